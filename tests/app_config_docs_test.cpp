// docs/configuration.md and the samples against the parser: the same keys with the same types,
// units and defaults on both sides, and every example is a good configuration.
#include <array>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "wirebook/app/config.hpp"

namespace {

using namespace wirebook;
using namespace wirebook::app;

// The repository, wherever the test is started from.
std::filesystem::path root() {
    const char* given = std::getenv("WIREBOOK_ROOT");
    const std::filesystem::path here = std::filesystem::path{__FILE__}.parent_path().parent_path();
    for (std::filesystem::path path : {std::filesystem::path{given != nullptr ? given : ""}, here,
                                       std::filesystem::path{"."}, std::filesystem::path{".."}}) {
        if (path.empty()) path = ".";
        if (std::filesystem::exists(path / "docs/configuration.md")) return path;
    }
    FAIL("no docs/configuration.md; set WIREBOOK_ROOT to the repository");
    return {};
}

std::string contents(const std::filesystem::path& path) {
    std::ifstream file{path};
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

// The heading's section in the file.
std::string section_of(const std::string& heading) {
    const std::map<std::string, std::string> sections{{"Top of the file", ""},
                                                      {"[[port]]", "port"},
                                                      {"[[lcore]]", "lcore"},
                                                      {"[[channel]]", "channel"},
                                                      {"lines of a [[channel]]", "channel.lines"},
                                                      {"[publish]", "publish"},
                                                      {"[sizes]", "sizes"},
                                                      {"[dpdk]", "dpdk"},
                                                      {"[log]", "log"},
                                                      {"[sim]", "sim"},
                                                      {"lines of [sim]", "sim.line"}};
    const auto found = sections.find(heading);
    return found == sections.end() ? "(none)" : found->second;
}

struct Row {
    std::string section;
    std::array<std::string, 6> cells;  // key, type, unit, default, example, meaning
};

std::vector<Row> documented_rows(const std::string& page) {
    std::vector<Row> rows;
    std::string section = "(none)";
    std::istringstream lines{page};
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("## ")) section = section_of(line.substr(3));
        if (section == "(none)" || !line.starts_with("| `")) continue;
        Row row;
        row.section = section;
        std::size_t begin = 2;
        for (std::string& cell : row.cells) {
            const std::size_t end = line.find(" |", begin);
            REQUIRE(end != std::string::npos);
            cell = line.substr(begin, end - begin);
            begin = end + 3;
        }
        rows.push_back(row);
    }
    return rows;
}

}  // namespace

TEST_CASE("config: docs/configuration.md has a row for every key, and no other") {
    const std::vector<Row> rows = documented_rows(contents(root() / "docs/configuration.md"));
    std::vector<std::string> documented, parsed;
    for (const Row& row : rows) {
        documented.push_back(row.section + " " + row.cells[0] + " | " + row.cells[1] + " | " +
                             row.cells[2] + " | " + row.cells[3]);
        CHECK(!row.cells[4].empty());
        CHECK(!row.cells[5].empty());
    }
    for (const ConfigKey& key : config_keys()) {
        parsed.push_back(std::string{key.table} + " `" + std::string{key.name} + "` | " +
                         std::string{key.type} + " | " + std::string{key.unit} + " | " +
                         std::string{key.default_text});
    }
    CHECK(documented == parsed);
}

TEST_CASE("config: the example of every key is read under that key") {
    for (const Row& row : documented_rows(contents(root() / "docs/configuration.md"))) {
        const std::string& example = row.cells[4];
        if (example == "see below") continue;
        REQUIRE(example.size() > 2);
        std::string text = example.substr(1, example.size() - 2) + "\n";
        if (row.section == "port" || row.section == "lcore") {
            const bool whole = row.cells[0] == "`device`" || row.cells[0] == "`cpu`";
            const std::string required =
                row.section == "port" ? "device = \"net_null0\"\n" : "cpu = 2\n";
            text.insert(0, "[[" + row.section + "]]\n" + (whole ? "" : required));
        }
        if (row.section.starts_with("channel")) {
            std::string head = "[[channel]]\n";
            if (row.cells[0] != "`name`") head += "name = \"a\"\n";
            if (row.cells[0] != "`feed`") head += "feed = \"itch50\"\n";
            if (row.section == "channel.lines") head += "[[channel.lines]]\n";
            if (row.section == "channel.lines" && row.cells[0] != "`group`")
                head += "group = \"233.1.1.1:5\"\n";
            text.insert(0, head);
        } else if (row.section == "sim.line") {
            text = "[[sim.line]]\n" + text;
        } else if (!row.section.empty() && row.section != "port" && row.section != "lcore") {
            text = "[" + row.section + "]\n" + text;
        }
        const Result<Config> config = parse_config(text, "example", ConfigUse::replay);
        INFO(text);
        CHECK((config ? "" : config.error().context) == "");
    }
}

TEST_CASE("config: every TOML block of the page is a good configuration") {
    const std::string page = contents(root() / "docs/configuration.md");
    std::size_t blocks = 0;
    for (std::size_t at = 0; (at = page.find("```toml\n", at)) != std::string::npos; ++blocks) {
        at += 8;
        const std::string block = page.substr(at, page.find("```", at) - at);
        const Result<Config> config = parse_config(block, "block", ConfigUse::either);
        CHECK((config ? "" : config.error().context) == "");
    }
    CHECK(blocks == 2);
}

TEST_CASE("config: the samples are good, and all but the one for replay serve run") {
    std::size_t samples = 0;
    for (const auto& entry : std::filesystem::directory_iterator(root() / "dpdk-config/samples")) {
        if (entry.path().extension() != ".toml") continue;
        ++samples;
        const bool replay = entry.path().filename() == "replay.toml";
        const Result<Config> config =
            load_config(entry.path().string(), replay ? ConfigUse::replay : ConfigUse::run);
        CHECK((config ? "" : config.error().context) == "");
    }
    CHECK(samples >= 3);
}
