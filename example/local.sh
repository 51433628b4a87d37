#!/bin/sh
# Runs the example on this computer: no ssh, no GPU. One of its jobs fails on purpose, so that this ends with 1.
# More options can be added: sh example/local.sh --json
cd "$(dirname "$0")/.." || exit
exec execute_batch example/batch_script.sh --no-gpu-required --memory-required 100 --copy-forward example "$@"
