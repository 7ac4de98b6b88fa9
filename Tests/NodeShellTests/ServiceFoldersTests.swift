import Testing

@testable import NodeShell

@Suite struct ServiceFoldersTests {
    @Test func theServicesGroupMayUseASocketInItsFolder() {
        let folders = ServiceFolders("/run/other:/run/rivulet")
        #expect(folders.group(of: "/run/rivulet/agent.sock", own: 990) == 990)
    }

    @Test func elsewhereAndAsRootNobodyElseMay() {
        let folders = ServiceFolders("/run/rivulet")
        #expect(folders.group(of: "/run/rivulets/agent.sock", own: 990) == nil)
        #expect(folders.group(of: "/tmp/agent.sock", own: 990) == nil)
        #expect(folders.group(of: "/run/rivulet/agent.sock", own: 0) == nil)
        #expect(ServiceFolders("").group(of: "/run/rivulet/agent.sock", own: 990) == nil)
    }
}
