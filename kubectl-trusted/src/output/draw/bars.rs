//! Bars behind the rows of a table.
//!
//! Owns their length and their strokes. They stand behind the last column, where there is room for them, and say
//! nothing that the numbers do not say.

use unicode_width::UnicodeWidthStr;

use super::super::paint::painted;
use super::super::text::{Bar, Table, Tone};
use super::{Canvas, GAP};

/// How long the longest bar may be.
const LONGEST: usize = 24;

/// Below this, bars tell nothing.
const SHORTEST: usize = 8;

/// What bars are drawn with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strokes {
    Blocks,
    /// For terminals whose locale is not UTF-8.
    Ascii,
}

impl Strokes {
    /// As the locale says: the first of these variables that is set decides, as POSIX has it.
    pub(crate) fn of_locale() -> Strokes {
        let set = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set).unwrap_or_default();
        let locale = locale.to_ascii_lowercase();
        if locale.contains("utf-8") || locale.contains("utf8") { Strokes::Blocks } else { Strokes::Ascii }
    }

    /// For what stayed, went and came.
    fn characters(self) -> [char; 3] {
        match self {
            Strokes::Blocks => ['█', '░', '▓'],
            Strokes::Ascii => ['=', '-', '+'],
        }
    }
}

/// The lines of a table, its header first, with the bars of its rows. Where a row takes several lines, it cannot be told
/// from here which is its first: such a table goes without.
pub(super) fn beside(lines: Vec<String>, table: &Table, canvas: Canvas) -> Vec<String> {
    let Some(strokes) = canvas.strokes else { return lines };
    let longest = table.bars.iter().map(length).max().unwrap_or_default();
    let widest = lines.iter().map(|line| visible_width(line)).max().unwrap_or_default() + usize::from(GAP);
    let room = canvas.width.map_or(LONGEST, |width| usize::from(width).saturating_sub(widest).min(LONGEST));
    if longest == 0 || room < SHORTEST || lines.len() != table.bars.len() + 1 {
        return lines;
    }
    let mut lines = lines.into_iter();
    let header = lines.next().unwrap_or_default();
    let mut drawn = vec![with_legend(header, (widest, room), table, canvas)];
    for (line, bar) in lines.zip(&table.bars) {
        let gap = " ".repeat(widest - visible_width(&line));
        let strokes = stroked(bar, (longest, room), strokes, canvas.colored);
        drawn.push(format!("{line}{gap}{strokes}").trim_end().to_owned());
    }
    drawn
}

/// What the strokes of a comparison stand for, in the header.
fn with_legend(header: String, (column, room): (usize, usize), table: &Table, canvas: Canvas) -> String {
    let Some(strokes) = canvas.strokes.filter(|_| table.bars.iter().any(|bar| bar.gone > 0 || bar.new > 0))
    else {
        return header;
    };
    let [kept, gone, new] = strokes.characters();
    let legend = format!("{kept} kept {gone} gone {new} new");
    if legend.width() > room {
        return header;
    }
    let gap = " ".repeat(column - visible_width(&header));
    format!("{header}{gap}{}", painted(&legend, Tone::Faint, canvas.colored))
}

fn length(bar: &Bar) -> u64 {
    bar.kept.saturating_add(bar.gone).saturating_add(bar.new)
}

/// The width without the codes for colour.
fn visible_width(line: &str) -> usize {
    let mut parts = line.split('\u{1b}');
    let plain = parts.next().unwrap_or_default().width();
    plain + parts.map(|part| part.split_once('m').map_or(0, |(_, text)| text.width())).sum::<usize>()
}

/// What there is of something gets a stroke at least. Ends are rounded, not parts, so that the whole is never longer
/// than the room.
fn stroked(bar: &Bar, (longest, room): (u64, usize), strokes: Strokes, colored: bool) -> String {
    let end = |number: u64| {
        let scaled = u128::from(number) * room as u128 * 2 + u128::from(longest);
        usize::try_from(scaled / (2 * u128::from(longest))).unwrap_or(room)
    };
    let [kept, gone, new] = strokes.characters();
    let whole = end(length(bar)).max(usize::from(length(bar) > 0));
    let (changed, stroke, tone) =
        if bar.new > 0 { (bar.new, new, Tone::Warn) } else { (bar.gone, gone, Tone::Good) };
    let most = if changed > 0 && whole > 1 { whole - 1 } else { whole };
    let solid = end(bar.kept).clamp(usize::from(bar.kept > 0), most);
    let rest = stroke.to_string().repeat(whole - solid);
    format!("{}{}", kept.to_string().repeat(solid), painted(&rest, tone, colored))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(bar: Bar, strokes: Strokes) -> String {
        stroked(&bar, (100, 10), strokes, false)
    }

    #[test]
    fn bars_show_what_stayed_went_and_came() {
        assert_eq!(drawn(Bar::of(100), Strokes::Blocks), "██████████");
        assert_eq!(drawn(Bar::between(100, 30), Strokes::Blocks), "███░░░░░░░");
        assert_eq!(drawn(Bar::between(100, 30), Strokes::Ascii), "===-------");
        assert_eq!(drawn(Bar::between(20, 60), Strokes::Ascii), "==++++");
        assert_eq!(drawn(Bar::between(0, 50), Strokes::Ascii), "+++++");
    }

    #[test]
    fn little_is_seen_and_nothing_is_not() {
        assert_eq!(drawn(Bar::of(1), Strokes::Ascii), "=");
        assert_eq!(drawn(Bar::between(100, 99), Strokes::Ascii), "=========-");
        assert_eq!(drawn(Bar::between(100, 1), Strokes::Ascii), "=---------");
        assert_eq!(drawn(Bar::of(0), Strokes::Ascii), "");
        let huge = Bar { kept: u64::MAX, gone: u64::MAX, new: 0 };
        assert_eq!(stroked(&huge, (u64::MAX, 10), Strokes::Ascii, false).len(), 10);
    }

    #[test]
    fn bars_stand_below_each_other_where_there_is_room() {
        let mut table = Table::left(&["VERB"]);
        for (verb, count) in [("get", 4), ("deletecollection", 2)] {
            table.row(vec![verb.into()]);
            table.bars.push(Bar::of(count));
        }
        let lines = ["VERB", "\u{1b}[1mget\u{1b}[0m", "deletecollection"].map(str::to_owned).to_vec();
        let canvas = |width, strokes| Canvas { colored: false, width, strokes };
        let wide = beside(lines.clone(), &table, canvas(Some(26), Some(Strokes::Ascii)));
        assert_eq!(wide[1], format!("\u{1b}[1mget\u{1b}[0m{}========", " ".repeat(15)));
        assert_eq!(wide[2], "deletecollection  ====");
        assert_eq!(beside(lines.clone(), &table, canvas(Some(25), Some(Strokes::Ascii))), lines);
        assert_eq!(beside(lines.clone(), &table, canvas(None, None)), lines);
        table.bars[0] = Bar::between(4, 1);
        let compared = beside(lines, &table, canvas(None, Some(Strokes::Ascii)));
        assert_eq!(compared[0], format!("VERB{}= kept - gone + new", " ".repeat(14)));
    }
}
