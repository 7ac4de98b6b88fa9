import NearbyCore
import Testing

@testable import NearbyBluetooth
