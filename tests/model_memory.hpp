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
// Covers: relaxed, acquire, release, and fences, on loads, stores and read-modify-writes of
// uint64; data races on plain memory (ModelPlain).
// Does not cover: seq_cst, load buffering (no promises), and a store of one thread that comes
// before a store of another that ran earlier: where several threads write a word, all but one of
// them have to use read-modify-writes. A failed compare-exchange has read the newest value: to
// fail with an older one only means one more round of its loop.
#pragma once

#include <ucontext.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "wirebook/core/base.hpp"

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

    // `steps`: the thread stops for ever, wherever it is then, before its next operation on a word
    // (interleaved only).
    void spawn(std::function<void()> body, int steps = no_limit) {
        auto& thread = threads_.emplace_back(std::make_unique<Thread>());
        thread->body = std::move(body);
        thread->steps_left = steps;
    }
    // Runs when all others have ended or stopped, and sees all that they did.
    void spawn_after(std::function<void()> body) { after_.body = std::move(body); }
    // Operations on words that all threads together may make: more, and the program never ends.
    void limit_steps(int steps) { steps_left_ = steps; }
    // Leaves out the schedules in which threads that could go on are interrupted more often than
    // that: their number grows exponentially, what they show was mostly seen with two or three.
    void limit_preemptions(int preemptions) { preemptions_left_ = preemptions; }

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
            const bool goes_on = active_ != nullptr && !active_->done;
            if (!goes_on || preemptions_left_ > 0) {
                Thread* const chosen = ready[choices.pick(ready.size())];
                if (goes_on && chosen != active_) preemptions_left_ -= 1;
                active_ = chosen;
            }
            swapcontext(&scheduler_, &active_->context);
        }
        if (after_.body) run_after();
        current = nullptr;
    }

private:
    friend class ModelAtomic;
    friend class ModelPlain;
    friend struct ModelMemory;
    struct Thread {
        std::function<void()> body;
        ucontext_t context{};
        std::unique_ptr<char[]> stack;
        bool done = false;
        int steps_left = no_limit;
        View now, acquired,
            released;  // seen; would be seen after fence(acquire); at last fence(release)
    };
    static constexpr std::size_t stack_bytes = 64 * 1024;
    static constexpr int no_limit = 1'000'000'000;

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
    void run_after() {
        for (const auto& thread : threads_) {
            join(after_.now, thread->now);
            join(after_.acquired, thread->acquired);
        }
        active_ = &after_;
        schedule_ = Schedule::in_order;
        after_.body();
    }
    Thread& step() {  // a point where another thread may run first
        if (steps_left_-- == 0) check_failed("the program ends", __FILE__, __LINE__);
        if (schedule_ == Schedule::interleaved) {
            if (active_->steps_left-- == 0) active_->done = true;  // and is never resumed
            swapcontext(&active_->context, &scheduler_);
        }
        return *active_;
    }

    std::vector<std::unique_ptr<Thread>> threads_;
    Thread after_;
    int steps_left_ = no_limit;
    int preemptions_left_ = no_limit;
    Thread* active_ = nullptr;
    Choices* choices_ = nullptr;
    ucontext_t scheduler_{};
    Schedule schedule_;
};

class ModelAtomic {
public:
    ModelAtomic() = default;
    explicit ModelAtomic(std::uint64_t value) : history_{{value, {}}} {}

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
    std::uint64_t exchange(std::uint64_t value, std::memory_order order) noexcept {
        auto& thread = Machine::current->step();
        return replace_newest(thread, value, order);
    }
    std::uint64_t fetch_add(std::uint64_t value, std::memory_order order) noexcept {
        auto& thread = Machine::current->step();
        return replace_newest(thread, history_.back().value + value, order);
    }
    bool compare_exchange_strong(std::uint64_t& expected, std::uint64_t value,
                                 std::memory_order order, std::memory_order failure) noexcept {
        auto& thread = Machine::current->step();
        if (history_.back().value == expected) {
            replace_newest(thread, value, order);
            return true;
        }
        expected = history_.back().value;
        see_newest(thread, failure);
        return false;
    }
    bool compare_exchange_weak(std::uint64_t& expected, std::uint64_t value,
                               std::memory_order order, std::memory_order failure) noexcept {
        return compare_exchange_strong(expected, value, order, failure);
    }

    // For checks after the run.
    [[nodiscard]] std::uint64_t newest() const noexcept { return history_.back().value; }

private:
    using Thread = Machine::Thread;
    struct Write {
        std::uint64_t value;
        View view;
    };
    static bool has_release(std::memory_order order) {
        return order == std::memory_order_release || order == std::memory_order_acq_rel;
    }
    void see_newest(Thread& thread, std::memory_order order) {
        thread.now[this] = history_.size() - 1;
        join(thread.acquired, history_.back().view);
        if (order == std::memory_order_acquire || order == std::memory_order_acq_rel)
            join(thread.now, history_.back().view);
    }
    // A read-modify-write reads the newest value, and hands on what that one's readers would have
    // seen (release sequence).
    std::uint64_t replace_newest(Thread& thread, std::uint64_t value, std::memory_order order) {
        const Write before = history_.back();
        see_newest(thread, order);
        thread.now[this] = thread.acquired[this] = history_.size();
        View carried = has_release(order) ? thread.now : thread.released;
        carried[this] = history_.size();
        join(carried, before.view);
        history_.push_back({value, std::move(carried)});
        return before.value;
    }
    std::vector<Write> history_{{0, {}}};
};

// Plain memory that several threads use in turn: an access that is not ordered after every
// conflicting one of another thread is a data race, and sets `raced`. Not a point where others may
// run: whether two accesses are ordered does not depend on which came first.
class ModelPlain {
public:
    static inline bool raced = false;

    std::uint64_t load() const {
        auto& thread = *Machine::current->active_;
        if (thread.now[this] != writes_) raced = true;
        std::size_t& reads = reads_[&thread];
        reads += 1;
        thread.now[&reads] = thread.acquired[&reads] = reads;
        return value_;
    }
    void store(std::uint64_t value) {
        auto& thread = *Machine::current->active_;
        if (thread.now[this] != writes_) raced = true;
        for (const auto& [reader, reads] : reads_)
            if (thread.now[&reads] != reads) raced = true;
        writes_ += 1;
        thread.now[this] = thread.acquired[this] = writes_;
        value_ = value;
    }
    // For checks after the run.
    [[nodiscard]] std::uint64_t newest() const noexcept { return value_; }

private:
    std::uint64_t value_ = 0;
    std::size_t writes_ = 0;
    mutable std::map<const void*, std::size_t> reads_;  // by thread
};

// A value of any type in such memory.
template <class T>
class ModelCell {
public:
    void put(const T& value) {
        accesses_.store(0);
        value_ = value;
    }
    const T& get() const {
        (void)accesses_.load();
        return value_;
    }

private:
    ModelPlain accesses_;
    T value_{};
};

struct ModelMemory {
    using Word = ModelAtomic;
    template <class T>
    using Cell = ModelCell<T>;
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
