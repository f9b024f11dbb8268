"""Read the HDF5 file of 10x Genomics' Cell Ranger: version 3, and version 2 with one group per genome."""

import h5py

from disco.table.formats import hdf5
from disco.table.formats.limits import NotATable
from disco.table.formats.matrix import Matrix, check_size, distinct, only
from disco.table.formats.reading import Reading

_EXPRESSION = "Gene Expression"


def layers(file: h5py.File) -> list[str]:
    """Its matrices: the genomes of version 2, one matrix without a choice in version 3; none in another file."""
    if "matrix" in hdf5.names(file):
        return ["matrix"]
    groups = {name: hdf5.child(file, name) for name in hdf5.names(file)[:100]}
    return [
        name for name, found in groups.items() if isinstance(found, h5py.Group) and "gene_names" in hdf5.names(found)
    ]


def read(file: h5py.File, reading: Reading) -> tuple[Matrix, str]:
    """The matrix of a Cell Ranger file, and its name.

    Raises:
        NotATable: there is no such matrix, or the file is damaged or too large.
    """
    there = layers(file)
    layer = reading.layer or there[0]
    if layer not in there:
        raise NotATable(f' has no matrix "{layer[:40]}"; it has {", ".join(there[:10])}.')
    group = hdf5.group_of(file, layer)
    shape = hdf5.whole_numbers(group, "shape")
    if len(shape) != 2:
        raise NotATable(" has no shape of features and cells: it is damaged.")
    features, cells = int(shape[0]), int(shape[1])
    check_size(cells, features, hdf5.numbers(group, "data").size)
    compressed = hdf5.compressed(group, cells, features)
    genes, ids, kinds = _features(group)
    barcodes = hdf5.texts(group, "barcodes")
    if len(barcodes) != cells or {len(genes), len(ids), len(kinds or genes)} != {features}:
        raise NotATable(
            f" has other numbers of names than its {features:,} features and {cells:,} cells: it is damaged."
        )
    return expression(Matrix(compressed.blocks, barcodes, distinct(genes, ids)), kinds), layer


def expression(matrix: Matrix, kinds: list[str]) -> Matrix:
    """The matrix without features other than gene expression, if it has both.

    Args:
        kinds: of its features; empty if the file does not have them.
    """
    kept = [index for index, kind in enumerate(kinds) if kind == _EXPRESSION]
    if not kept or len(kept) == len(kinds):
        return matrix
    others = ", ".join(sorted({kind[:30] for kind in kinds} - {_EXPRESSION})[:5])
    return only(matrix, kept, f"{len(kinds) - len(kept):,} features that are not genes were left out: {others}.")


def _features(group: h5py.Group) -> tuple[list[str], list[str], list[str]]:
    """The names, ids and kinds of the features; version 2 has no kinds."""
    if "gene_names" in hdf5.names(group):
        return hdf5.texts(group, "gene_names"), hdf5.texts(group, "genes"), []
    features = hdf5.group_of(group, "features")
    kinds = hdf5.texts(features, "feature_type") if "feature_type" in hdf5.names(features) else []
    return hdf5.texts(features, "name"), hdf5.texts(features, "id"), kinds
