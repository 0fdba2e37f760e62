"""Create a bucket unless it exists, waiting for the server: create_bucket.py ENDPOINT BUCKET"""

import sys
import time

import boto3
from botocore.exceptions import BotoCoreError, ClientError

TRIES = 60

endpoint, bucket = sys.argv[1:]
client = boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1")
for _ in range(TRIES):
    try:
        names = [found["Name"] for found in client.list_buckets()["Buckets"]]
        if bucket not in names:
            client.create_bucket(Bucket=bucket)
        sys.exit(0)
    except (BotoCoreError, ClientError) as error:
        print(f"{endpoint}: {type(error).__name__}, trying again", file=sys.stderr)
        time.sleep(1)
sys.exit(f"{endpoint} has not answered; the bucket {bucket} was not created.")
