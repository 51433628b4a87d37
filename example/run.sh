#!/bin/sh
# Runs the example on a machine of yours: first put its address, your name there and your key into
# machines/minimal.yaml. Each job asks for a card with 1000 MB free; add --no-gpu-required to do without one.
cd "$(dirname "$0")/.." || exit
exec execute_batch example/batch_script.sh --machines machines/minimal.yaml --copy-forward example "$@"
