//! The picture on a terminal of a fixed size, made of what it was sent: text, movements of the cursor, and clearing.

/// Columns and lines.
const SIZE: (usize, usize) = (80, 24);

/// Returns the lines that a terminal shows, without spaces at their ends.
pub(super) fn picture(sent: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(sent);
    let mut cells = vec![vec![' '; SIZE.0]; SIZE.1];
    let (mut row, mut column) = (0, 0);
    let mut rest = text.chars();
    while let Some(char) = rest.next() {
        if char != '\x1b' {
            if let Some(cell) = cells.get_mut(row).and_then(|cells| cells.get_mut(column)) {
                *cell = char;
            }
            column += 1;
            continue;
        }
        assert_eq!(rest.next(), Some('['), "only control sequences are sent");
        let mut parameters = String::new();
        let end = loop {
            match rest.next() {
                Some(char @ ('0'..='9' | ';' | '?')) => parameters.push(char),
                other => break other,
            }
        };
        match end {
            Some('H') => {
                let mut numbers = parameters.split(';').map(|it| it.parse().unwrap_or(1));
                row = numbers.next().unwrap_or(1) - 1;
                column = numbers.next().unwrap_or(1) - 1;
            }
            Some('J') => cells = vec![vec![' '; SIZE.0]; SIZE.1],
            // Styles and modes; the last sequence may be incomplete.
            Some('m' | 'h' | 'l') | None => {}
            other => panic!("{other:?} ends a control sequence"),
        }
    }
    let line = |cells: Vec<char>| cells.into_iter().collect::<String>().trim_end().to_owned();
    cells.into_iter().map(line).collect()
}
