"""Personas as Alignmenter reads them."""
