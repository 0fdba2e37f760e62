# The application: web server, worker, scheduler and commands are one image with different commands.
# Build: docker build -t alignmenter-datasets . Run: compose.yaml, docs/deployment.md.
FROM python:3.11-slim-trixie AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
RUN python -m venv /opt/alignmenter/venv
WORKDIR /opt/alignmenter
COPY locks/run.txt locks/s3.txt locks/
# Exactly what the locks name, down to the hash of each file.
RUN venv/bin/pip install --no-compile --require-hashes --requirement locks/run.txt \
    && venv/bin/pip install --no-compile --require-hashes --requirement locks/s3.txt
COPY manage.py LICENSE ./
COPY templates templates
COPY alignmenter_site alignmenter_site
COPY annotations_app annotations_app
COPY datasets_app datasets_app
# The file system of the container is read-only, so what Python compiles has to be in the image.
RUN venv/bin/python -m compileall -q venv/lib alignmenter_site annotations_app datasets_app || true

FROM python:3.11-slim-trixie
# The base image comes without its standard library compiled, a third of what a command needs to start.
RUN python -m compileall -q /usr/local/lib/python3.11 || true
RUN groupadd --gid 10001 alignmenter \
    && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /var/lib/alignmenter \
        --shell /usr/sbin/nologin alignmenter \
    && install --directory --owner 10001 --group 10001 --mode 0700 /var/lib/alignmenter
COPY --from=build /opt/alignmenter /opt/alignmenter
WORKDIR /opt/alignmenter
ENV PATH=/opt/alignmenter/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    ALIGNMENTER_VAR_DIR=/var/lib/alignmenter \
    LOG_FORMAT=json
USER 10001:10001
VOLUME /var/lib/alignmenter
EXPOSE 8000
# For the web server; compose.yaml turns it off where there is none.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8000/healthz', timeout=4)"]
CMD ["gunicorn", "alignmenter_site.wsgi", "--bind", "0.0.0.0:8000", "--workers", "2", "--threads", "4", \
     "--preload", "--config", "python:alignmenter_site.gunicorn_settings", "--no-control-socket", "--worker-tmp-dir", "/dev/shm"]
