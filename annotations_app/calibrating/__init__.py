"""What Alignmenter's calibration gets: whether labels are ready for it, and what its reports found"""
