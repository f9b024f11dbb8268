"""The formats of tables: text, workbooks, Parquet, Stata, files of cells and genes, each read into an Arrow table."""
