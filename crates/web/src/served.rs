//! Pages of a service: their files are separate, so that a strict policy can name their origin.

use crate::modules::{MODULES, Module, PAGE, STYLE};

/// Modules that only a service's pages use.
const SERVED: &[Module] = &[
    Module { path: "live/app.js", text: include_str!("live/app.js") },
    Module { path: "live/bar.js", text: include_str!("live/bar.js") },
    Module { path: "live/renumber.js", text: include_str!("live/renumber.js") },
    Module { path: "live/start.js", text: include_str!("live/start.js") },
    Module { path: "live/tables.js", text: include_str!("live/tables.js") },
    Module { path: "service/api.js", text: include_str!("service/api.js") },
    Module { path: "service/code.js", text: include_str!("service/code.js") },
    Module { path: "service/list.js", text: include_str!("service/list.js") },
    Module { path: "service/recording.js", text: include_str!("service/recording.js") },
    Module { path: "service/refused.js", text: include_str!("service/refused.js") },
    Module { path: "service/rows.js", text: include_str!("service/rows.js") },
    Module { path: "service/status.js", text: include_str!("service/status.js") },
    Module { path: "service/theme.js", text: include_str!("service/theme.js") },
];

/// Style of the bar of a live recording.
const LIVE_STYLE: &str = include_str!("live/live.css");

/// Style of the list.
const LIST_STYLE: &str = include_str!("service/list.css");

/// List of recordings.
#[must_use]
pub const fn list_page() -> &'static str {
    include_str!("service/list.html")
}

/// Status page: the state of the service and its load.
#[must_use]
pub const fn status_page() -> &'static str {
    include_str!("service/status.html")
}

/// Page of a recording; its script requests the tables. The server sets the policy.
#[must_use]
pub fn recording_page() -> String {
    page_of("service/recording.js")
}

/// Page of a live recording.
#[must_use]
pub fn live_page() -> String {
    let style = "<link rel=\"stylesheet\" href=\"/assets/live/live.css\">\n</head>";
    page_of("live/start.js").replacen("</head>", style, 1)
}

fn page_of(script: &str) -> String {
    let (head, _) = PAGE.split_once("<script type=\"module\">").unwrap_or((PAGE, ""));
    let policy = "<meta http-equiv=\"Content-Security-Policy\" content=\"POLICY\">\n";
    let style =
        "<link rel=\"icon\" href=\"data:,\">\n<link rel=\"stylesheet\" href=\"/assets/style.css\">";
    let script =
        format!("<script type=\"module\" src=\"/assets/{script}\"></script>\n</body>\n</html>\n");
    head.replacen(policy, "", 1).replacen("<style>/*STYLE*/</style>", style, 1) + &script
}

/// Returns a file of the pages by its path below `/assets`; `None` if there is none.
#[must_use]
pub fn served(path: &str) -> Option<&'static str> {
    match path {
        "style.css" => return Some(STYLE),
        "live/live.css" => return Some(LIVE_STYLE),
        "service/list.css" => return Some(LIST_STYLE),
        _ => {}
    }
    let mut modules = MODULES.iter().chain(SERVED);
    modules.find(|module| module.path == path).map(|module| module.text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_inline_and_every_import_is_served() {
        for page in [list_page(), status_page(), &recording_page(), &live_page()] {
            assert!(
                !page.contains("POLICY") && !page.contains("<style") && !page.contains(" style=")
            );
            assert!(!page.contains("<script>") && !page.contains(" onclick"));
            for part in page.split("/assets/").skip(1) {
                let path = part.split('"').next().unwrap();
                assert!(served(path).is_some(), "{path}");
            }
        }
        for module in SERVED {
            for line in module.text.lines().filter(|line| line.starts_with("import")) {
                let path = line.split('"').nth(1).unwrap();
                let (folder, _) = module.path.split_once('/').unwrap();
                let path = path.strip_prefix("../").map_or_else(
                    || format!("{folder}/{}", path.trim_start_matches("./")),
                    str::to_owned,
                );
                assert!(served(&path).is_some(), "{}: {path}", module.path);
            }
        }
        assert!(served("../lib.rs").is_none() && served("").is_none());
    }
}
