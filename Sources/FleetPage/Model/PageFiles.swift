/// What the page is made of; in the program itself, so that nothing can be missing.
enum PageFiles {
    static func response(_ path: String) -> PageResponse? {
        switch path {
        case "/": PageResponse(type: "text/html; charset=utf-8", PackageResources.page_html)
        case "/page.css": PageResponse(type: "text/css; charset=utf-8", PackageResources.page_css)
        case "/page.js": script(PackageResources.page_js)
        case "/chart.js": script(PackageResources.chart_js)
        case "/cards.js": script(PackageResources.cards_js)
        case "/mesh.js": script(PackageResources.mesh_js)
        case "/channels.js": script(PackageResources.channels_js)
        case "/health.js": script(PackageResources.health_js)
        case "/words.js": script(PackageResources.words_js)
        case "/zoom.js": script(PackageResources.zoom_js)
        case "/icon.svg": PageResponse(type: "image/svg+xml", PackageResources.icon_svg)
        default: nil
        }
    }

    private static func script(_ body: [UInt8]) -> PageResponse {
        PageResponse(type: "text/javascript; charset=utf-8", body)
    }
}
