#include "live_lcore.hpp"

#include <pthread.h>
#include <sched.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace wirebook::app {
namespace {

// The configuration with the lcore's channels alone.
Config part_of(const Config& config, const LcorePlan& plan) {
    Config part = config;
    part.channels.clear();
    for (const std::size_t channel : plan.channels) {
        part.channels.push_back(config.channels[channel]);
    }
    return part;
}

std::string numbered(const std::string& name, std::size_t index) {
    return name.empty() ? name : name + "." + std::to_string(index);
}

// What is written once for all lcores is the first one's.
DumpOptions dumps_of(const DumpOptions& all, std::size_t index, std::size_t count) {
    if (count == 1) return all;
    DumpOptions dumps;
    dumps.top = numbered(all.top, index);
    dumps.messages = numbered(all.messages, index);
    dumps.events = numbered(all.events, index);
    if (index != 0) return dumps;
    dumps.final_books = all.final_books;
    dumps.stats = all.stats;
    return dumps;
}

}  // namespace

Result<std::unique_ptr<Lcore>> Lcore::create(const Config& config, const RunOptions& options,
                                             const LcorePlan& plan, std::size_t index,
                                             std::size_t count) {
    std::unique_ptr<Lcore> lcore(new Lcore(plan));
    const Config part = part_of(config, plan);
    Observer& observer = lcore->observer_;
    observer.clock = TscClock::calibrate();
    observer.dates = trading_dates(part);
    const bool fingerprint = options.fingerprint && count == 1;
    if (auto opened = open_dumps(dumps_of(options.dumps, index, count), fingerprint, observer);
        !opened) {
        return Error{EINVAL, opened.error().context};
    }
    if (!part.publish.name.empty()) {
        const std::string name =
            count == 1 ? part.publish.name : numbered(part.publish.name, index);
        if (auto opened = open_publisher(part, name, observer); !opened) return opened.error();
    }
    lcore->pipeline_ = std::make_unique<AppPipeline>(pipeline_options(part, true), observer);
    lcore->pipeline_->take_stamps(observer.publisher != nullptr);
    if (auto opened = lcore->pipeline_->open(); !opened) {
        return Error{ENOMEM, opened.error().context};
    }
    return lcore;
}

std::optional<Error> Lcore::settle() const {
    const std::string text = plan_.cpu ? "lcore-" + std::to_string(*plan_.cpu) : "lcore";
    pthread_setname_np(pthread_self(), text.c_str());
    if (plan_.cpu) {
        cpu_set_t cpus;
        CPU_ZERO(&cpus);
        CPU_SET(*plan_.cpu, &cpus);
        const int code = pthread_setaffinity_np(pthread_self(), sizeof cpus, &cpus);
        if (code != 0) {
            return Error{ENODEV, "lcore.cpu: CPU " + std::to_string(*plan_.cpu) +
                                     " is not there or not allowed for this process: " +
                                     std::generic_category().message(code)};
        }
    }
    if (plan_.fifo_priority == 0) return std::nullopt;
    sched_param wanted{};
    wanted.sched_priority = static_cast<int>(plan_.fifo_priority);
    const int code = pthread_setschedparam(pthread_self(), SCHED_FIFO, &wanted);
    if (code == 0) return std::nullopt;
    return Error{EPERM, "lcore.fifo_priority: SCHED_FIFO is not allowed (" +
                            std::generic_category().message(code) +
                            "): it wants CAP_SYS_NICE or ulimit -r " +
                            std::to_string(plan_.fifo_priority)};
}

}  // namespace wirebook::app
