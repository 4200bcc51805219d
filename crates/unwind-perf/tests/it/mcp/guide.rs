//! Check that the dialogue in docs/guide/agents.md is that of the server.

use serde_json::Value;

use super::client::Client;
use crate::support::cases::root;

#[test]
fn the_dialogue_of_the_guide_is_as_it_stands() {
    let page = std::fs::read_to_string(root().join("docs/guide/agents.md")).expect("the page");
    let (_, configuration) = page.split_once("```json\n").expect("a configuration");
    let (configuration, dialogue) = configuration.split_once("```").expect("the end of it");
    let configuration: Value = serde_json::from_str(configuration).expect("JSON");
    let server = &configuration["mcpServers"]["profiles"];
    assert_eq!(server["command"], "unwind-perf");
    let arguments: Vec<&str> =
        server["args"].as_array().expect("arguments").iter().filter_map(Value::as_str).collect();
    let client = Client::of(root(), &arguments);
    let mut calls = 0;
    for block in dialogue.split("```text\n").skip(1) {
        let (call, answer) = block.split_once("\n\n").expect("a call and its answer");
        let (answer, _) = answer.split_once("```").expect("the end of the block");
        let (tool, arguments) = call.split_once(' ').expect("a tool and its arguments");
        let arguments = serde_json::from_str(arguments).expect("JSON");
        assert_eq!(client.answer(tool, &arguments).1, answer, "{call}");
        calls += 1;
    }
    assert_eq!(calls, 3);
}
