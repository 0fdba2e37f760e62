import sys
from pathlib import Path

from .keeper import main

main(Path(sys.argv[1]))
