"""Files and samples out of datasets."""
