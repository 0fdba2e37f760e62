"""How good an assistant is, with the interval that the labels and judges at hand allow."""
