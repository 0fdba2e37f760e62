"""What pages of all capabilities share: paging, redaction, the frame of a dataset."""
