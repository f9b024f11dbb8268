"""Small files of cells and genes, as anndata, Cell Ranger and R write them."""

import gzip
import io
import tarfile
import zipfile

import h5py
import numpy as np
import scipy.io
import scipy.sparse as sparse

_TEXT = h5py.string_dtype()
GENES = [f"g{position}" for position in range(30)]


def counts(cells: int = 80, genes: int = 30, seed: int = 0) -> np.ndarray:
    """Sparse counts of which some genes vary more than others, (cells, genes)."""
    rng = np.random.default_rng(seed)
    means = rng.gamma(0.5, 2, genes) * rng.gamma(5, 0.2, (cells, 1))
    means[:, :5] *= rng.gamma(0.4, 2.5, (cells, 5))
    return rng.poisson(means)


def barcodes(cells: int) -> list[str]:
    return [f"CELL{position}-1" for position in range(cells)]


def _frame(file: h5py.Group, name: str, index: list[str], **columns: object) -> h5py.Group:
    group = file.create_group(name)
    group.attrs.update({"encoding-type": "dataframe", "_index": "names"})
    group.attrs["column-order"] = np.array(list(columns), dtype=h5py.string_dtype())
    group.create_dataset("names", data=np.array(index, dtype=object), dtype=h5py.string_dtype())
    for column, values in columns.items():
        _column(group, column, values)
    return group


def _column(group: h5py.Group, name: str, values: object) -> None:
    """Numbers or texts; of a dict the parts, as anndata writes categories, and values with a mask."""
    if isinstance(values, dict):
        inside = group.create_group(name)
        for part, given in values.items():
            _column(inside, part, given)
        return
    values = np.asarray(values)
    is_text = values.dtype.kind in "UO"
    group.create_dataset(name, data=values.astype(object) if is_text else values, dtype=_TEXT if is_text else None)


def _matrix(group: h5py.Group, name: str, values: np.ndarray, form: str, **how: object) -> None:
    if form == "array":
        group.create_dataset(name, data=values, **how).attrs["encoding-type"] = "array"
        return
    found = (sparse.csr_matrix if form == "csr_matrix" else sparse.csc_matrix)(values)
    inside = group.create_group(name)
    inside.attrs.update({"encoding-type": form, "shape": np.array(found.shape)})
    for part in ("data", "indices", "indptr"):
        inside.create_dataset(part, data=getattr(found, part), **how)


def h5ad(
    values: np.ndarray,
    form: str = "csr_matrix",
    genes: list[str] | None = None,
    obs: dict[str, object] | None = None,
    **layers: np.ndarray,
) -> bytes:
    """An h5ad file with `values` as its X, in one of the forms csr_matrix, csc_matrix and array."""
    out = io.BytesIO()
    with h5py.File(out, "w") as file:
        _frame(file, "obs", barcodes(len(values)), **({"batch": np.zeros(len(values), int)} if obs is None else obs))
        _frame(file, "var", genes or GENES[: values.shape[1]])
        _matrix(file, "X", values, form, chunks=True, compression="gzip")
        inside = file.create_group("layers")
        for name, layer in layers.items():
            _matrix(inside, name, layer, form)
    return out.getvalue()


def tenx(values: np.ndarray, version: int = 3, genes: list[str] | None = None, kinds: list[str] | None = None) -> bytes:
    """The HDF5 file of Cell Ranger 2 or 3."""
    out, found = io.BytesIO(), sparse.csr_matrix(values)
    genes = genes or GENES[: values.shape[1]]
    ids = np.array([f"ENSG{position}" for position in range(len(genes))], "S")
    with h5py.File(out, "w") as file:
        group = file.create_group("matrix" if version == 3 else "GRCh38")
        for part in ("data", "indices", "indptr"):
            group.create_dataset(part, data=getattr(found, part), compression="gzip")
        group.create_dataset("shape", data=np.array(values.shape[::-1]))
        group.create_dataset("barcodes", data=np.array(barcodes(len(values)), "S"))
        if version == 2:
            group.create_dataset("genes", data=ids)
            group.create_dataset("gene_names", data=np.array(genes, "S"))
        else:
            features = group.create_group("features")
            features.create_dataset("id", data=ids)
            features.create_dataset("name", data=np.array(genes, "S"))
            features.create_dataset("feature_type", data=np.array(kinds or ["Gene Expression"] * len(genes), "S"))
    return out.getvalue()


def parts(values: np.ndarray, packed: bool = True) -> dict[str, bytes]:
    """matrix.mtx with its lists of names, by file name."""
    text = io.BytesIO()
    scipy.io.mmwrite(text, sparse.coo_matrix(values.T), field="integer")
    genes = "".join(f"ENSG{position}\tg{position}\tGene Expression\n" for position in range(values.shape[1]))
    names = "".join(f"{name}\n" for name in barcodes(len(values)))
    found = {"matrix.mtx": text.getvalue(), "features.tsv": genes.encode(), "barcodes.tsv": names.encode()}
    return {f"{name}.gz": gzip.compress(data) for name, data in found.items()} if packed else found


def zipped(files: dict[str, bytes]) -> bytes:
    """Files as a ZIP."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in files.items():
            archive.writestr(f"sample/{name}", data)
    return out.getvalue()


def tarred(files: dict[str, bytes], mode: str = "w", **more: tarfile.TarInfo) -> bytes:
    """Files as a tar, and further entries without content."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as target:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            target.addfile(info, io.BytesIO(data))
        for info in more.values():
            target.addfile(info)
    return out.getvalue()
