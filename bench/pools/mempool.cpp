// rte_mempool, as a program without a device and without reserved 2 MiB pages can have it.
#include "pools/mempool.hpp"

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_mempool.h>

#include <array>
#include <cstdio>

namespace wirebook::bench {
namespace {

template <class ObjectType>
class Mempool {
public:
    using Object = ObjectType;
    Mempool(std::size_t objects, unsigned threads)
        : pool_(rte_mempool_create("bench",
                                   static_cast<unsigned>(objects) + threads * 3 * cache_objects,
                                   sizeof(Object), cache_objects, 0, nullptr, nullptr, nullptr,
                                   nullptr, SOCKET_ID_ANY, RTE_MEMPOOL_F_NO_IOVA_CONTIG)) {
        if (pool_ == nullptr) std::fprintf(stderr, "rte_mempool: %s\n", rte_strerror(rte_errno));
        WIREBOOK_CHECK(pool_ != nullptr);
    }
    ~Mempool() { rte_mempool_free(pool_); }
    Mempool(const Mempool&) = delete;
    Mempool& operator=(const Mempool&) = delete;
    Mempool(Mempool&&) = delete;
    Mempool& operator=(Mempool&&) = delete;

    // The thread needs a number of DPDK's, or it has no cache.
    class Local {
    public:
        explicit Local(rte_mempool* pool) : pool_(pool) {
            WIREBOOK_CHECK(rte_thread_register() == 0);
        }
        ~Local() { rte_thread_unregister(); }
        Local(const Local&) = delete;
        Local& operator=(const Local&) = delete;
        Local(Local&&) = delete;
        Local& operator=(Local&&) = delete;
        Object* take() noexcept {
            void* object = nullptr;
            return rte_mempool_get(pool_, &object) == 0 ? static_cast<Object*>(object) : nullptr;
        }
        void give_back(Object* object) noexcept { rte_mempool_put(pool_, object); }

    private:
        rte_mempool* pool_;
    };
    Local local(unsigned) { return Local(pool_); }

private:
    static constexpr unsigned cache_objects = 512;
    rte_mempool* pool_;
};

}  // namespace

std::vector<Row> measure_mempool(const Settings& settings) {
    std::array words = {std::string("pool_bench"),
                        std::string("--no-huge"),
                        std::string("--no-shconf"),
                        std::string("--no-pci"),
                        std::string("--no-telemetry"),
                        std::string("--log-level=error"),
                        std::string("--lcores=0"),
                        std::string("-m"),
                        std::string("2560")};
    std::array<char*, words.size()> arguments{};
    for (std::size_t i = 0; i < words.size(); ++i) arguments[i] = words[i].data();
    if (rte_eal_init(static_cast<int>(arguments.size()), arguments.data()) < 0) {
        std::fprintf(stderr, "rte_mempool: EAL: %s\n", rte_strerror(rte_errno));
        return {};
    }
    return measure<Mempool>(settings);
}

}  // namespace wirebook::bench
