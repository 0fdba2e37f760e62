"""Import, export, selection and history of labels."""
