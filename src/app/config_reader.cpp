// Type and range checks of single values, with texts that say what was found and what may stand
// there. See config_reader.hpp.
#include "config_reader.hpp"

#include <algorithm>
#include <bit>

namespace wirebook::app {

std::string Problems::report(std::string_view name) const {
    std::vector<Problem> sorted = problems_;
    std::stable_sort(sorted.begin(), sorted.end(), [](const Problem& a, const Problem& b) {
        return std::pair{a.line, a.column} < std::pair{b.line, b.column};
    });
    std::string text;
    for (const Problem& problem : sorted) {
        if (!text.empty()) text += '\n';
        text += std::string{name} + ":" + std::to_string(problem.line) + ":" +
                std::to_string(problem.column) + ": ";
        if (!problem.key.empty()) text += problem.key + ": ";
        text += problem.text;
    }
    return text;
}

std::string describe(const toml::node& node) {
    switch (node.type()) {
        case toml::node_type::table: return "a table";
        case toml::node_type::array:
            return node.is_array_of_tables() ? "a list of tables" : "a list";
        case toml::node_type::string:
            return "the text " + in_quotes(*node.value_exact<std::string>());
        case toml::node_type::integer:
            return "the integer " + std::to_string(*node.value_exact<std::int64_t>());
        case toml::node_type::floating_point: return "a number with a fraction";
        case toml::node_type::boolean: return *node.value_exact<bool>() ? "true" : "false";
        case toml::node_type::date: return "a date";
        case toml::node_type::time: return "a time";
        case toml::node_type::date_time: return "a date and time";
        case toml::node_type::none: break;
    }
    return "nothing";
}

std::optional<std::uint64_t> Value::integer(std::uint64_t least, std::uint64_t most,
                                            bool power_of_two) const {
    const auto number = node_->value_exact<std::int64_t>();
    if (!number) {
        wrong_type("an integer");
        return {};
    }
    const auto unsigned_number = static_cast<std::uint64_t>(*number);
    const bool fits = *number >= 0 && unsigned_number >= least && unsigned_number <= most;
    if (fits && (!power_of_two || std::has_single_bit(unsigned_number))) return unsigned_number;
    problem(std::string{power_of_two ? "must be a power of two, " : "must be "} +
            std::to_string(least) + " to " + std::to_string(most) + ", is " +
            std::to_string(*number));
    return {};
}

std::optional<bool> Value::flag() const {
    const auto value = node_->value_exact<bool>();
    if (!value) wrong_type("true or false");
    return value;
}

const std::string* Value::text() const {
    const auto* value = node_->as_string();
    if (value != nullptr) return &value->get();
    wrong_type("text");
    return nullptr;
}

std::optional<std::chrono::year_month_day> Value::date() const {
    std::optional<std::chrono::year_month_day> date;
    if (const auto local = node_->value_exact<toml::date>()) {
        date = std::chrono::year_month_day{std::chrono::year{local->year},
                                           std::chrono::month{local->month},
                                           std::chrono::day{local->day}};
        if (!is_date_in_range(*date)) date.reset();
    } else if (const auto* written = node_->as_string()) {
        date = parse_date(written->get());
    }
    if (!date) wrong_type("a day of 1990 to 2199 as \"YYYY-MM-DD\"");
    return date;
}

std::optional<std::size_t> Value::choice(std::span<const std::string_view> choices) const {
    const std::string* value = text();
    if (value == nullptr) return {};
    const auto found = std::find(choices.begin(), choices.end(), *value);
    if (found != choices.end()) return static_cast<std::size_t>(found - choices.begin());
    problem("must be " + alternatives(choices) + ", is " + in_quotes(*value) +
            did_you_mean(*value, choices));
    return {};
}

std::string unknown_key(std::string_view table, std::string_view name,
                        std::span<const std::string_view> names) {
    const std::string suggestion = did_you_mean(name, names);
    if (!suggestion.empty()) return "is not a key" + suggestion;
    for (const ConfigKey& key : config_keys()) {
        if (key.name != name || key.table == table) continue;
        if (key.table.empty()) return "is not a key here; it stands at the top of the file";
        const bool list = key.table == "port" || key.table == "channel";
        const std::string brackets =
            list ? "[[" + std::string{key.table} + "]]" : "[" + std::string{key.table} + "]";
        return "is not a key here; it belongs into " +
               (key.table == "channel.lines" ? "the lines of a [[channel]]" : brackets);
    }
    std::string known;
    for (const std::string_view candidate : names) {
        known += known.empty() ? "" : ", ";
        known += candidate;
    }
    return "is not a key; known here: " + known;
}

}  // namespace wirebook::app
