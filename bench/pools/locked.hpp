// Pools that all threads share behind locks: one mutex, a spin lock, buckets with a mutex each.
//
// An object belongs to a bucket for good. A thread takes from one bucket after the other; in one
// that is empty it looks at the next. With `timed` the time stamp counter is read around each
// lock: how long a thread waits and works to have it.
#pragma once

#include <atomic>
#include <bit>
#include <memory>
#include <mutex>

#include "pools/object.hpp"
#include "wirebook/core/clock.hpp"

namespace wirebook::bench {

class SpinLock {
public:
    void lock() noexcept {
        while (taken_.exchange(true, std::memory_order_acquire)) {
            while (taken_.load(std::memory_order_relaxed)) pause();
        }
    }
    void unlock() noexcept { taken_.store(false, std::memory_order_release); }

private:
    std::atomic<bool> taken_{false};
};

template <class ObjectType, class Lock, std::size_t buckets>
class LockedPool {
    static_assert(std::has_single_bit(buckets));
    struct alignas(false_sharing_bytes) Bucket {
        Lock lock;
        ObjectType* free = nullptr;
    };

public:
    using Object = ObjectType;
    LockedPool(std::size_t objects, unsigned) : storage_(objects) {
        for (Object& object : storage_.objects()) {
            Bucket& bucket = bucket_of(&object);
            object.link = std::bit_cast<std::uint64_t>(bucket.free);
            bucket.free = &object;
        }
    }

    class Local {
    public:
        Local(LockedPool& pool, unsigned thread) : pool_(&pool), turn_(thread) {}
        Object* take() noexcept {
            for (std::size_t tried = 0; tried < buckets; ++tried) {
                Bucket& bucket = pool_->buckets_[turn_++ % buckets];
                lock(bucket);
                Object* object = bucket.free;
                if (object != nullptr) bucket.free = std::bit_cast<Object*>(object->link);
                unlock(bucket);
                if (object != nullptr) return object;
            }
            return nullptr;
        }
        void give_back(Object* object) noexcept {
            Bucket& bucket = pool_->bucket_of(object);
            lock(bucket);
            object->link = std::bit_cast<std::uint64_t>(bucket.free);
            bucket.free = object;
            unlock(bucket);
        }
        bool timed = false;
        std::uint64_t lock_ticks = 0;

    private:
        void lock(Bucket& bucket) noexcept {
            const std::uint64_t before = timed ? rdtsc() : 0;
            bucket.lock.lock();
            if (timed) lock_ticks += rdtsc() - before;
        }
        void unlock(Bucket& bucket) noexcept {
            const std::uint64_t before = timed ? rdtsc() : 0;
            bucket.lock.unlock();
            if (timed) lock_ticks += rdtsc() - before;
        }
        LockedPool* pool_;
        std::size_t turn_;
    };
    Local local(unsigned thread) { return {*this, thread}; }

private:
    Bucket& bucket_of(const Object* object) noexcept {
        return buckets_[static_cast<std::size_t>(object - storage_.objects().data()) % buckets];
    }
    Storage<Object> storage_;
    std::unique_ptr<Bucket[]> buckets_ = std::make_unique<Bucket[]>(buckets);
};

template <class Object>
using OneMutexPool = LockedPool<Object, std::mutex, 1>;
template <class Object>
using FourMutexPool = LockedPool<Object, std::mutex, 4>;
template <class Object>
using SixteenMutexPool = LockedPool<Object, std::mutex, 16>;
template <class Object>
using SpinPool = LockedPool<Object, SpinLock, 1>;

}  // namespace wirebook::bench
