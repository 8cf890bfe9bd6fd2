// Pools of which each thread has its own: ours, and those of the libraries; and malloc.
#pragma once

#include <cstdlib>
#include <memory>
#include <memory_resource>
#include <utility>
#include <vector>

#ifdef WIREBOOK_BOOST_POOL
#include <boost/pool/pool.hpp>
#endif

#include "pools/object.hpp"
#include "wirebook/core/slab_pool.hpp"

namespace wirebook::bench {

// core/slab_pool.hpp
template <class ObjectType>
class OwnSlab {
public:
    using Object = ObjectType;
    OwnSlab(std::size_t objects, unsigned threads) : objects_(objects / threads) {}
    struct Local {
        explicit Local(std::size_t objects)
            : arena(Storage<Object>::arena_for(objects)),
              pool(std::make_unique<SlabPool<Object>>()) {
            WIREBOOK_CHECK(pool->start(arena, static_cast<std::uint32_t>(objects)));
        }
        Object* take() noexcept { return pool->take(); }
        void give_back(Object* object) noexcept { pool->give_back(object); }
        Arena arena;
        std::unique_ptr<SlabPool<Object>> pool;
    };
    Local local(unsigned) { return Local(objects_); }

private:
    std::size_t objects_;
};

// No pool: what is taken is what was given back just before. What the loops of measure.hpp cost by
// themselves, with the misses that come from touching the objects.
template <class ObjectType>
class NoPool {
public:
    using Object = ObjectType;
    NoPool(std::size_t objects, unsigned threads) : objects_(objects / threads) {}
    struct Local {
        explicit Local(std::size_t objects) : storage(objects) {}
        Object* take() noexcept {
            if (last == nullptr) [[unlikely]]
                return &storage.objects()[fresh++];
            return std::exchange(last, nullptr);
        }
        void give_back(Object* object) noexcept { last = object; }
        Storage<Object> storage;
        std::size_t fresh = 0;
        Object* last = nullptr;
    };
    Local local(unsigned) { return Local(objects_); }

private:
    std::size_t objects_;
};

// A thread_local stack of addresses, found through the thread's register at each call.
template <class ObjectType>
class ThreadLocalPool {
public:
    using Object = ObjectType;
    ThreadLocalPool(std::size_t objects, unsigned threads) : objects_(objects / threads) {}
    struct Local {
        explicit Local(std::size_t objects) : storage(objects), stack(objects) {
            top = stack.data();
            for (Object& object : storage.objects()) give_back(&object);
        }
        Object* take() noexcept { return *--top; }
        void give_back(Object* object) noexcept { *top++ = object; }
        static inline thread_local Object** top = nullptr;
        Storage<Object> storage;
        std::vector<Object*> stack;
    };
    Local local(unsigned) { return Local(objects_); }

private:
    std::size_t objects_;
};

template <class ObjectType>
class MallocPool {
public:
    using Object = ObjectType;
    MallocPool(std::size_t, unsigned) {}
    Object* take() noexcept { return static_cast<Object*>(std::malloc(sizeof(Object))); }
    void give_back(Object* object) noexcept { std::free(object); }
    MallocPool& local(unsigned) noexcept { return *this; }
};

// Never gives memory back but all at once: here whenever 64 KiB are used up.
template <class ObjectType>
class MonotonicPool {
public:
    using Object = ObjectType;
    static constexpr bool random_lifetime = false;
    MonotonicPool(std::size_t, unsigned) {}
    struct Local {
        static constexpr std::size_t bytes = 64 << 10;
        Object* take() {
            if (left-- == 0) {
                resource->release();
                left = bytes / sizeof(Object) - 1;
            }
            return static_cast<Object*>(resource->allocate(sizeof(Object), cache_line_bytes));
        }
        void give_back(Object* object) {
            resource->deallocate(object, sizeof(Object), cache_line_bytes);
        }
        std::vector<std::byte> buffer = std::vector<std::byte>(bytes + cache_line_bytes);
        std::unique_ptr<std::pmr::monotonic_buffer_resource> resource =
            std::make_unique<std::pmr::monotonic_buffer_resource>(buffer.data(), buffer.size());
        std::size_t left = bytes / sizeof(Object);
    };
    Local local(unsigned) { return {}; }
};

template <class ObjectType>
class UnsynchronizedPool {
public:
    using Object = ObjectType;
    UnsynchronizedPool(std::size_t, unsigned) {}
    struct Local {
        Object* take() {
            return static_cast<Object*>(resource->allocate(sizeof(Object), cache_line_bytes));
        }
        void give_back(Object* object) {
            resource->deallocate(object, sizeof(Object), cache_line_bytes);
        }
        std::unique_ptr<std::pmr::unsynchronized_pool_resource> resource =
            std::make_unique<std::pmr::unsynchronized_pool_resource>();
    };
    Local local(unsigned) { return {}; }
};

#ifdef WIREBOOK_BOOST_POOL
template <class ObjectType>
class BoostPool {
public:
    using Object = ObjectType;
    BoostPool(std::size_t, unsigned) {}
    struct Local {
        Object* take() { return static_cast<Object*>(pool->malloc()); }
        void give_back(Object* object) { pool->free(object); }
        using Pool = boost::pool<boost::default_user_allocator_malloc_free>;
        std::unique_ptr<Pool> pool = std::make_unique<Pool>(sizeof(Object));
    };
    Local local(unsigned) { return {}; }
};
#endif

}  // namespace wirebook::bench
