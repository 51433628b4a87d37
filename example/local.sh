#!/bin/sh
# Runs the example on this computer, without ssh and without a GPU. One job fails on purpose, so the exit code is 1.
# You can add options: sh example/local.sh --json
cd "$(dirname "$0")/.." || exit
exec execute_batch example/batch_script.sh --no-gpu-required --memory-required 100 --copy-forward example "$@"
