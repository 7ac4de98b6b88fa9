/// An authority, a certificate that it signed, with its key, and one of the same key that is out of
/// date. They are worth nothing anywhere else. The first two are valid until 2126.
enum TestCertificates {
    static let authority = bytes(authorityKey + "\n" + authorityCertificate)
    static let chain = bytes(ownKey + "\n" + ownCertificate + "\n" + authorityCertificate)
    static let expired = bytes(ownKey + "\n" + expiredCertificate)
    static let mismatched = bytes(authorityKey + "\n" + ownCertificate)
    static let noKey = bytes(ownCertificate)

    private static func bytes(_ text: String) -> [UInt8] { Array((text + "\n").utf8) }

    private static let authorityKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgZ5R9fkzHdKpyLkqD
        86/3DG1btPcupSpyu+4S1MhbdMOhRANCAAQJrEArblEKyQDYP9D1zhCq+MFY7Rwb
        IAF43TQrokFzgGjd3Inveksi5+98PCOxh2CtCVBenjkDYoxzAOU3RBhw
        -----END PRIVATE KEY-----
        """
    private static let authorityCertificate = """
        -----BEGIN CERTIFICATE-----
        MIIBiTCCAS+gAwIBAgIUZOupaEYd5TD64idX73DrNxmjlIQwCgYIKoZIzj0EAwIw
        GTEXMBUGA1UEAwwOVGVzdCBBdXRob3JpdHkwIBcNMjYxMTIzMDQ0NDU4WhgPMjEy
        NjEwMzAwNDQ0NThaMBkxFzAVBgNVBAMMDlRlc3QgQXV0aG9yaXR5MFkwEwYHKoZI
        zj0CAQYIKoZIzj0DAQcDQgAECaxAK25RCskA2D/Q9c4QqvjBWO0cGyABeN00K6JB
        c4Bo3dyJ73pLIufvfDwjsYdgrQlQXp45A2KMcwDlN0QYcKNTMFEwHQYDVR0OBBYE
        FM8nv/xbAT9soB8bJ5lM0jUpgKIGMB8GA1UdIwQYMBaAFM8nv/xbAT9soB8bJ5lM
        0jUpgKIGMA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDSAAwRQIgBsqmoEu2
        fkcmywEAj7dDN0gQgigNl4LeaE/dCS3vpa4CIQD0GFEow5t4sl/x/0Bx9M2dHRGA
        pCC39MFn8HXFeztcXg==
        -----END CERTIFICATE-----
        """
    private static let ownKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg4DKL8HnSQ0GfJGRo
        3V34xDmjNrygx3dPTapKLrjV01mhRANCAASN5DVnjKrNgjCLJR1dOilVG0wymuXk
        2aGQKWqXMMkwaLglCKCy9fb2U9pOZUN3YRfeje3pgD7/q4Jey+5VzRa+
        -----END PRIVATE KEY-----
        """
    private static let ownCertificate = """
        -----BEGIN CERTIFICATE-----
        MIIBIzCBywIUDZVNz5oQB8HqWXglgKnNNlPaiN0wCgYIKoZIzj0EAwIwGTEXMBUG
        A1UEAwwOVGVzdCBBdXRob3JpdHkwIBcNMjYxMTIzMDQ0NDU4WhgPMjEyNjEwMzAw
        NDQ0NThaMA8xDTALBgNVBAMMBEFubmEwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNC
        AASN5DVnjKrNgjCLJR1dOilVG0wymuXk2aGQKWqXMMkwaLglCKCy9fb2U9pOZUN3
        YRfeje3pgD7/q4Jey+5VzRa+MAoGCCqGSM49BAMCA0cAMEQCIFYTkt4QE9hpibGO
        7nxlYit5gaFQ/XwcRvxdN7i4N0S5AiATeXAghB49dgeXgsrEN/pGLhyskW8BMhO0
        OrXxQ6MStQ==
        -----END CERTIFICATE-----
        """
    private static let expiredCertificate = """
        -----BEGIN CERTIFICATE-----
        MIIBEDCBtgIBATAKBggqhkjOPQQDAjAZMRcwFQYDVQQDDA5UZXN0IEF1dGhvcml0
        eTAeFw0yMDAxMDEwMDAwMDBaFw0yMTAxMDEwMDAwMDBaMA8xDTALBgNVBAMMBEFu
        bmEwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAASN5DVnjKrNgjCLJR1dOilVG0wy
        muXk2aGQKWqXMMkwaLglCKCy9fb2U9pOZUN3YRfeje3pgD7/q4Jey+5VzRa+MAoG
        CCqGSM49BAMCA0kAMEYCIQDYc+wSO/k/m/DbXM2oM6rK6jNPmUEsdAqDD9RE3vIE
        FQIhAPmEUU18gjPSV5oDW55ai/Ai+iCMyjLs4F3eHY8eSbXd
        -----END CERTIFICATE-----
        """

    /// PKCS#12 of the chain in base64; its password is "secret".
    static let pkcs12 = """
        MIIFbAIBAzCCBSIGCSqGSIb3DQEHAaCCBRMEggUPMIIFCzCCA8IGCSqGSIb3DQEHBqCCA7MwggOv
        AgEAMIIDqAYJKoZIhvcNAQcBMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAgLkqJlOg0t
        igICCAAwDAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEF2nQeCicqRO9KVjm0kLZ/eAggNA2mx0
        mdX+QUMfJAaEmf2AlIrOiXrEczllI6tNRKcvl9DQFX3h16krTSruJ2rp5UQ5t79zqyRU6PGO7Fc6
        8llLWtEH5VEYAI4d+h84zu9Vjg173+azuRfYAXSxeo4/qMVJvspzFP1md8oBpPuib8wOzcgZ8lPg
        z7/q6VYB3h/a5d7ZCjIcQFkDazJHS59e0V0eiXBKGBfikzu8sL5boTPXpY44YIdkqsXGMbpyp9sb
        2PqP8aLqUpaEz1oQd9IOIwX9fm52OYHoNNHgKEMtLrBYKHRNFiUd5R2AANGGx8kxvqW9NuI+x6gf
        g1nPndC2s7GhrWkC2QZzVF40+6jNjZtJjIIdZBf4QhQ3z/qmZauKtO5fjApkRe7+Oe5qwBFZvUjd
        k3TpXVwfSj0FZ5X5qQxEvJgeIK8sMbxEWlrM6fzgvnwk6Jn9YZdjFq5vQsyeBSkWCZ2Jm1ZkDBXz
        Q6m4VRXvfyv/0BlW4+f4S5kwgDIst6F8I7msqqAZMxgBSajEXZ4PpGKKSfyaL1gx4Wee7l1WHdRH
        4wM2xNkyhYgJKEjFbfrx1OXxelhtc2ubbO2dwhMHW8VGZYBhUR4N+Vh9yzOm29RlEFO4BjjqLUtt
        NjHB4X6CCWQpMxqvY5H+OG4J7/jspl4ueMl7HTvER32gbQ1OIrubwFNnVe1BFXh2PXKWhLFuJb5N
        jfd9WPY1VZmB3p1soNv4A269Wlba/Dm5YCX9vMezJHy8x7shATLZjBvRRCyy4/SKJ/vDBCMZYjB7
        pUrHzxY3LZ0lonpLQhKBlXpdJcKFs9VvSMW0L8dkqMpQGQ60jH9eZ3QiKsoMp39k6hhJhPvp1EUY
        Rxii4pPZiat+sQK7k2BDGAlm7+bTXk7nncT4PA3pJx32aaOkMTSb7w8H8i/PtM+cxDXYwf5zyBFq
        KvYOH3LeX4scOE8f0Ffil/jf07VyviyXbHAOnFDqLV9KJ5L6vI6VkQnglfNn/juBOXB1aSgtMX4D
        0mYdSAYy9z8CQqCt5FT5KzrdnMtTei4/IwSl0QWo6Noc8gsrSBbTvVCRlG7M2R4wgNgaCcKNhf4x
        g/xkNoGtvTmOWVlLd+nAJ6VKa2VwO0YoQJyzI5J2azCCAUEGCSqGSIb3DQEHAaCCATIEggEuMIIB
        KjCCASYGCyqGSIb3DQEMCgECoIHvMIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAgS
        L8ExJzAXLQICCAAwDAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEKXcAHT0YbB4G4Hi75DbKe8E
        gZAYaiHLzqN3Msg0oU5StDd/1SJZlXwHoiOyLSal3z00qIao3T40jWbNtg2xcfQQxEehubBiiRIV
        DJ60yJivsStQOPjwdlJVIyAeAzcReIJaiSSmb2/rk4IWrB5ocyt3H5QniiWuYBbUy0UeI13F5liP
        mCMl5emw7LZK9t68z7hF2KXIoDEbADi5LoFcBDGDqowxJTAjBgkqhkiG9w0BCRUxFgQUlg1Pl98s
        y0++r27lcS2ZGvH0vFswQTAxMA0GCWCGSAFlAwQCAQUABCD9sAdwjzMt6QomSEmoSNYyUpTIF2qq
        GO07Q9NtT9AJIwQI4U9NrhUypU8CAggA
        """
}
