"""Workbooks of Excel 97 to 2003, and texts and web pages that are called .xls."""

import base64
import io
import zlib

import pandas as pd
import pytest

from disco.errors import InputError
from disco.table.read import NOTES, READING, SHEETS, read_table

pytestmark = pytest.mark.usefixtures("in_process")

# Two sheets, "notes" with one cell, and "counts" with a name and three counts in each of 20 rows; packed.
OLD = (
    "c-rllOK1~87{|Za-MqHRW;aQzRw$uheIEL-uY<-"
    "1>d8{QC?aTUBZ!hnT0y;7tvw2YC&i26#fy)N4^+^b2SL$;APB7<JqZdPwDFt&PSQ1<g9R-<@`d^D%<T7@Z+0F#NnSknrmoy>o~9aGPbSTjV-"
    "yb52~M#}!6m+5F3W7?8s${3+h1j|C{JWKL=O_rB61Gpd{2`>x2z|uMDIB5rK2=ZEabBbXq(W7AtC#)PFTG547$w8p(W^73VHyVhTeqlL+A$7"
    "oP(}o-zl+&p63Qu^{I8d+i1l-hgHyBFmF)PL5=iOuH#eZh3^}pjip0FNB+zkEmoYa5zpMVd?8;NIx<BWp2BPNxtt~XRN1SKv-"
    "SFgtrx`gUw*8QXzDK*7STAB_Y1iYCn-UDEO{qHh2mI#bdp!-t&qPj4-}6T#zw!=Ro(%F<PdE}Wwv-"
    "Q+u7dU#pvjvvAjuiuy~vcBl&!ZFT=&560hyib}1cFI;C_;Su3SmN{^IYDScA<P3hbY?SOVdyP#{K-"
    "OwIrFSHNZZ_AScZx;85H%kKhEzUYZN#s53I+xFmuh&1m+&(;*+lQKQoF@L6vrG;WmFcu37<Q_6d|d@%HS`QxU5b1&G{b|**S5h%mDxH0pR>5"
    "z#&Nn}uX4)+`4ya>{IKI*%jEmqO3vTdHhnU4<8|%|welG_!o2)U&>FEuT)HUjey(yA>h1Ivx@69qDr&f@?`3tcCg~g5$a?<iYozFobmceMtS"
    "!W-"
    "HbSkxcvLOzsLChyOO?^_O9q$BYRTl1rP>mjwglRe8}bn?MqfQ}9`}t@yC!HuLmTi3E83r@S<aLDS<$A3HsKRdv<bSU$^~glLtF5PD%t|=Xk&"
    "*obO=5%MTe?mI5&1!Lx<sGD>@9iO&dF+p(F5VP;?|PYE9Mg^y#REj>0Fd=;)l-"
    "c9o84=oowwijD=I+o+juTSME`r<1e|x>ft!4H~)uK1oG41ZK>si5=I_arn53jt63gYhoufbOJt}q7#9&mZ}+ZM?*VRPf0tVn*y<C>7<5E!Y8"
    "fhWFWR(^W3h6cHxszv<tdfyF)z<?ZKx}(OzJGH`T0`l!l&Nm6A?@4r}SOhEBt0k)qRq8FOkzEu*0`@L8<rOkkJTf%(R{Lb`LMZgs2M|7QZ<f"
    "k=JhAe{8_O%qZ7>wM!hQ~#UfpS7J-<j)xYEZsr{zLx03yw*<>g+!$-@smvD|3YcIIC_Z=(=hsRc;4%me-"
    "nt{^ZYdE{<<wR-}p20>E~~b{~b}FO>q"
)
ROWS = [["site", "fox", "deer"], *[[f"s{row}", row, row % 3] for row in range(9)]]


def read(data: bytes, **choices: object) -> pd.DataFrame:
    return read_table(io.BytesIO(data), "t.xls", **choices)


def page(rows: list[list[object]], end: str = "</td>") -> str:
    return "".join("<tr>" + "".join(f"<td>{cell}{end}" for cell in row) + "</tr>" for row in rows)


def test_a_workbook_of_excel_97_is_read_by_its_largest_sheet():
    data = zlib.decompress(base64.b85decode(OLD))
    table = read(data)
    assert list(table) == ["site", "fox", "deer", "boar"] and len(table) == 20
    assert table.iloc[:2, 1:].to_numpy().tolist() == [[2, 4, 0], [4, 0, 3]]
    assert table.attrs[READING]["sheet"] == "counts" and table.attrs[SHEETS] == ["notes", "counts"]
    with pytest.raises(InputError, match="has names but no rows"):
        read(data, sheet="notes")
    with pytest.raises(InputError, match="^t.xls is damaged, needs a password, or is older than Excel 97: in Excel"):
        read(data[:700])


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_text_called_xls_is_read_as_text(encoding):
    text = "\n".join("\t".join(map(str, row)) for row in ROWS)
    table = read(text.encode(encoding))
    assert table.columns.tolist() == ROWS[0] and table.to_numpy().tolist() == ROWS[1:]


@pytest.mark.parametrize("end", ["</td>", ""])
def test_a_web_page_called_xls_is_read_by_its_largest_table(end):
    menu = f"<table>{page([['home', 'about']])}</table>"
    table = read(f"<html><body>{menu}<table>{page(ROWS, end)}</table></body></html>".encode())
    assert table.columns.tolist() == ROWS[0] and table.to_numpy().tolist() == ROWS[1:]


def test_wide_cells_of_a_page_stand_above_several_columns():
    over = '<tr><th></th><th colspan="2">counts</th></tr>'
    table = read(f"<table>{over}{page(ROWS)}</table>".encode())
    assert table.columns.tolist() == ROWS[0] and "counts" in table.attrs[NOTES][0]


def test_a_page_without_a_table_is_a_sentence():
    with pytest.raises(InputError, match="^t.xls is a web page without a table: save the table as CSV or as .xlsx.$"):
        read(b"<html><body><p>Please log in</p></body></html>")
