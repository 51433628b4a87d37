#!/bin/sh
# Runs the example on a machine of yours. First write its address, your account and your key into machines/minimal.yaml.
# Each job needs a card with 1000 MB free. To run without a card, add --no-gpu-required.
cd "$(dirname "$0")/.." || exit
exec execute_batch example/batch_script.sh --machines machines/minimal.yaml --copy-forward example "$@"
