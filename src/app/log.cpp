#include "wirebook/app/log.hpp"

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <mutex>

namespace wirebook::app {
namespace {

std::mutex mutex;
std::shared_ptr<spdlog::logger> logger;  // null: the default

spdlog::level::level_enum level_of(LogLevel level) {
    switch (level) {
        case LogLevel::error: return spdlog::level::err;
        case LogLevel::warning: return spdlog::level::warn;
        case LogLevel::info: return spdlog::level::info;
        case LogLevel::debug: break;
    }
    return spdlog::level::debug;
}

std::shared_ptr<spdlog::logger> make_logger(const LogConfig& config) {
    spdlog::sink_ptr sink;
    if (config.file.empty()) {
        sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
        sink->set_pattern("wirebook: %v");
    } else {
        sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(config.file);
        sink->set_formatter(std::make_unique<spdlog::pattern_formatter>(
            "%Y-%m-%dT%H:%M:%S.%eZ %l %v", spdlog::pattern_time_type::utc));
    }
    auto made = std::make_shared<spdlog::logger>("wirebook", std::move(sink));
    made->set_level(level_of(config.level));
    made->flush_on(spdlog::level::debug);
    return made;
}

}  // namespace

Status open_log(const LogConfig& config) {
    // spdlog would make missing folders, and wait for somebody who reads a FIFO.
    const std::filesystem::path path = config.file;
    std::error_code unknown;
    if (!path.empty() && !std::filesystem::is_directory(path.parent_path(), unknown))
        return Error{ENOENT, "log.file: there is no folder " + path.parent_path().string()};
    if (std::filesystem::exists(path, unknown) && !std::filesystem::is_regular_file(path, unknown))
        return Error{EINVAL, "log.file: " + config.file + " is not a file"};
    try {
        auto made = make_logger(config);
        const std::lock_guard lock(mutex);
        logger = std::move(made);
    } catch (const spdlog::spdlog_ex& error) {
        return Error{EACCES, "log.file: " + std::string(error.what())};
    }
    return Ok{};
}

void log_line(LogLevel level, std::string_view text) {
    const std::lock_guard lock(mutex);
    if (!logger) logger = make_logger({});
    logger->log(level_of(level), text);
}

}  // namespace wirebook::app
