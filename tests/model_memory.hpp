// A memory that explores every execution the C++ memory model allows.
//
// Atomics keep their whole history; a load may return any value not yet overwritten in
// the loading thread's view. Views move between threads exactly as release/acquire
// operations and fences say (the view machine of Kang et al., POPL 2017, without
// promises). Threads are coroutines-by-ucontext that yield before every operation; the
// scheduler and each load take their choices from a Choices tree, and explore() runs the
// program once per leaf.
//
// Schedule::in_order runs each thread to its end before the next starts. Where the later ones
// only load, that loses nothing: a store never depends on them, and a load may still return any
// value, old ones too, so every interleaving's outcome is among those. It is 10^4 times quicker.
//
// Covers: relaxed, acquire, release, and fences, on loads and stores of uint64.
// Does not cover: read-modify-write, seq_cst, load buffering (no promises), data races on
// plain memory.
#pragma once

#include <ucontext.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace wirebook::test {

using View = std::map<const void*, std::size_t>;  // location -> index into its history
inline void join(View& into, const View& from) {
    for (const auto& [location, index] : from) into[location] = std::max(into[location], index);
}

// Depth-first enumeration of every sequence of choices.
class Choices {
public:
    std::size_t pick(std::size_t options) {
        if (options == 1) return 0;
        if (position_ == path_.size()) path_.push_back({0, options});
        return path_[position_++].taken;
    }
    bool next() {
        while (!path_.empty() && path_.back().taken + 1 == path_.back().options) path_.pop_back();
        if (path_.empty()) return false;
        path_.back().taken += 1;
        position_ = 0;
        return true;
    }

private:
    struct Node {
        std::size_t taken, options;
    };
    std::vector<Node> path_;
    std::size_t position_ = 0;
};

enum class Schedule { interleaved, in_order };

class Machine {
public:
    explicit Machine(Schedule schedule = Schedule::interleaved) : schedule_(schedule) {}

    static inline Machine* current = nullptr;

    void spawn(std::function<void()> body) {
        auto& thread = threads_.emplace_back(std::make_unique<Thread>());
        thread->body = std::move(body);
    }
    void run(Choices& choices) {
        current = this;
        choices_ = &choices;
        if (schedule_ == Schedule::in_order) {
            for (auto& thread : threads_) {
                active_ = thread.get();
                thread->body();
            }
            current = nullptr;
            return;
        }
        for (auto& thread : threads_) start(*thread);
        for (;;) {
            std::vector<Thread*> ready;
            for (auto& thread : threads_)
                if (!thread->done) ready.push_back(thread.get());
            if (ready.empty()) break;
            active_ = ready[choices.pick(ready.size())];
            swapcontext(&scheduler_, &active_->context);
        }
        current = nullptr;
    }

private:
    friend class ModelAtomic;
    friend struct ModelMemory;
    struct Thread {
        std::function<void()> body;
        ucontext_t context{};
        std::unique_ptr<char[]> stack;
        bool done = false;
        View now, acquired,
            released;  // seen; would be seen after fence(acquire); at last fence(release)
    };
    static constexpr std::size_t stack_bytes = 64 * 1024;

    static void entry() {
        current->active_->body();
        current->active_->done = true;
        swapcontext(&current->active_->context, &current->scheduler_);
    }
    void start(Thread& thread) {
        thread.stack = std::make_unique_for_overwrite<char[]>(stack_bytes);
        getcontext(&thread.context);
        thread.context.uc_stack.ss_sp = thread.stack.get();
        thread.context.uc_stack.ss_size = stack_bytes;
        thread.context.uc_link = nullptr;
        makecontext(&thread.context, &Machine::entry, 0);
    }
    Thread& step() {  // a point where another thread may run first
        if (schedule_ == Schedule::interleaved) swapcontext(&active_->context, &scheduler_);
        return *active_;
    }

    std::vector<std::unique_ptr<Thread>> threads_;
    Thread* active_ = nullptr;
    Choices* choices_ = nullptr;
    ucontext_t scheduler_{};
    Schedule schedule_;
};

class ModelAtomic {
public:
    void store(std::uint64_t value, std::memory_order order) noexcept {
        auto& thread = Machine::current->step();
        thread.now[this] = history_.size();
        thread.acquired[this] = history_.size();
        View carried = order == std::memory_order_release ? thread.now : thread.released;
        carried[this] = history_.size();
        history_.push_back({value, std::move(carried)});
    }
    std::uint64_t load(std::memory_order order) const noexcept {
        auto& thread = Machine::current->step();
        const std::size_t oldest = thread.now[this];
        const std::size_t index =
            oldest + Machine::current->choices_->pick(history_.size() - oldest);
        thread.now[this] = index;
        join(thread.acquired, history_[index].view);
        if (order == std::memory_order_acquire) join(thread.now, history_[index].view);
        return history_[index].value;
    }

private:
    struct Write {
        std::uint64_t value;
        View view;
    };
    std::vector<Write> history_{{0, {}}};
};

struct ModelMemory {
    using Word = ModelAtomic;
    static void fence(std::memory_order order) noexcept {
        auto& thread = Machine::current->step();
        if (order == std::memory_order_acquire) join(thread.now, thread.acquired);
        if (order == std::memory_order_release) thread.released = thread.now;
    }
};

// Runs `scenario` (which spawns threads and returns a check to make at the end) once per
// execution. Returns how many there were.
inline std::uint64_t explore(Schedule schedule,
                             const std::function<std::function<void()>(Machine&)>& scenario) {
    Choices choices;
    std::uint64_t executions = 0;
    do {
        Machine machine(schedule);
        const auto check = scenario(machine);
        machine.run(choices);
        check();
        executions += 1;
    } while (choices.next());
    return executions;
}

}  // namespace wirebook::test
