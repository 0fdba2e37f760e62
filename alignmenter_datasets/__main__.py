from alignmenter_datasets.command import run

run()
