#!/usr/bin/env bash
# The unit tests of what computes, codes and encrypts, as 64-bit ARM programs under QEMU's user emulation, in the
# Debian 13 root: deploy/test-arm64.sh [FILTER]. As root. The other tests know no more of the processor than these.
set -euo pipefail
. "$(dirname "$0")/common.sh"
FILTER=${1:-'^(NearbyCoreTests|NearbyWireTests|SamplingTests|TelemetryTests)\.|ReportCoding|FrameSeal|Cipher|RecordFilter|Identity|ReplayWindow'}
# The targets, or single files, that hold these. A FILTER for other tests finds nothing.
export RIVULET_TESTS="NearbyCoreTests NearbyWireTests SamplingTests TelemetryTests NearbyDTLSTests \
    NearbyEngineTests/FrameSealTests.swift NearbyEngineTests/ReplayWindowTests.swift"
need_root
need qemu-user-static
deploy/build-arm64.sh tests
root=$TOP/.build-debian13/root
install /usr/bin/qemu-aarch64-static "$root/usr/bin/"
# The tests' files are where they were when the tests were built: /build.
deploy/debian13.sh qemu-aarch64-static -L /w/.build-arm64/sysroot \
    -E LD_LIBRARY_PATH=/usr/libexec/swift/lib/swift/linux /w/.build-arm64/tests/rivuletPackageTests.xctest \
    --testing-library swift-testing --filter "$FILTER"
