"""The metadata of a dataset as a file: `.meta.yaml`, licenses."""
