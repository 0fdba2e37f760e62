"""The client of Alignmenter Datasets: datasets, their turns and jobs, from programs and notebooks.

from alignmenter_datasets import Client

client = Client("https://datasets.example.com", token)
for turn in client.turns("support"):
    ...
"""

from alignmenter_datasets.client import Client
from alignmenter_datasets.errors import ClientError, JobFailed, RequestRefused, ServerUnreachable
from alignmenter_datasets.frames import read_dataset, read_frame
from alignmenter_datasets.transfers import Pulled

__all__ = [
    "Client",
    "ClientError",
    "JobFailed",
    "Pulled",
    "RequestRefused",
    "ServerUnreachable",
    "read_dataset",
    "read_frame",
]
