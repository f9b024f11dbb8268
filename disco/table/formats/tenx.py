"""Read the HDF5 file of 10x Genomics' Cell Ranger: version 3, and version 2 with one group per genome."""

from dataclasses import replace

import h5py

from disco.table.formats import hdf5
from disco.table.formats.limits import NotATable
from disco.table.formats.matrix import Matrix, check_size, distinct
from disco.table.formats.reading import Reading


def layers(file: h5py.File) -> list[str]:
    """The names of its matrices: genomes in version 2, one unnamed matrix in version 3; none in another file."""
    if "matrix" in hdf5.names(file):
        return ["matrix"]
    return [name for name in hdf5.names(file)[:100] if "gene_names" in hdf5.names(hdf5.child(file, name))]


def read(file: h5py.File, reading: Reading) -> Matrix:
    """The matrix of a Cell Ranger file; NotATable if it is missing, damaged or too large."""
    names = layers(file)
    layer = reading.layer or names[0]
    if layer not in names:
        raise NotATable(f' has no matrix "{layer[:40]}"; it has {", ".join(names[:10])}.')
    group = hdf5.group_of(file, layer)
    shape = hdf5.whole_numbers(group, "shape")
    if len(shape) != 2:
        raise NotATable(" has no shape of features and cells: it is damaged.")
    features, cells = int(shape[0]), int(shape[1])
    check_size(cells, features, hdf5.numbers(group, "data").size)
    blocks = hdf5.compressed(group, cells, features)
    genes, ids, kinds = _features(group)
    barcodes = hdf5.texts(group, "barcodes")
    if len(barcodes) != cells or {len(genes), len(ids), len(kinds or genes)} != {features}:
        raise NotATable(
            f" has other numbers of names than its {features:,} features and {cells:,} cells: it is damaged."
        )
    matrix = Matrix(blocks, barcodes, distinct(genes, ids)).expression(kinds)
    return replace(matrix, layer=layer, layers=names)


def _features(group: h5py.Group) -> tuple[list[str], list[str], list[str]]:
    """The names, ids and kinds of the features; version 2 has no kinds."""
    if "gene_names" in hdf5.names(group):
        return hdf5.texts(group, "gene_names"), hdf5.texts(group, "genes"), []
    features = hdf5.group_of(group, "features")
    kinds = hdf5.texts(features, "feature_type") if "feature_type" in hdf5.names(features) else []
    return hdf5.texts(features, "name"), hdf5.texts(features, "id"), kinds
