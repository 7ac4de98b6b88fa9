#!/usr/bin/env bash
# Runs the test of one example in a lab with terminals; on failure prints what stood on every screen.
. Examples/terminal.sh
. Tests/Network/case.sh
