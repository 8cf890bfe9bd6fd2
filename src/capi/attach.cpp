// The library itself, attach, re-attach and close: all that allocates, and so all that could throw.
#include <new>

#include "handle.hpp"

namespace wirebook::capi {

namespace {

thread_local std::array<char, 512> last_error{};

constexpr std::uint32_t known_flags = WIREBOOK_ATTACH_NO_TABLE | WIREBOOK_ATTACH_LEFT_BEHIND |
                                      WIREBOOK_ATTACH_NO_PREFAULT | WIREBOOK_ATTACH_FOLLOW |
                                      WIREBOOK_ATTACH_SHOW_POSITION;
// Of the first version of the interface; and no size that is meant is larger than the second.
constexpr std::uint32_t least_options = sizeof(wirebook_attach_options);
constexpr std::uint32_t most_options = 4096;

int fail(const Error& error) noexcept {
    set_last_error(error.context);
    return error.code > 0 ? -error.code : -EIO;
}
int out_of_memory() noexcept {
    set_last_error("attach: out of memory");
    return -ENOMEM;
}

// What the caller's struct says, as far as this library knows it. 0 or a negative errno.
int read_options(const wirebook_attach_options* given, wirebook_attach_options& options) noexcept {
    options = {};
    if (given == nullptr) return 0;
    const std::uint32_t size = given->size;
    if (size < least_options || size > most_options)
        return invalid("attach: options.size is not sizeof(struct wirebook_attach_options)");
    const auto* const bytes = static_cast<const unsigned char*>(static_cast<const void*>(given));
    for (std::size_t i = sizeof(options); i < size; ++i)
        if (bytes[i] != 0) {
            set_last_error("attach: options ask for what this library does not know");
            return -E2BIG;
        }
    std::memcpy(&options, given, sizeof(options));
    if ((options.flags & ~known_flags) != 0)
        return invalid("attach: unknown bits in options.flags");
    if (options.resume > WIREBOOK_RESUME_OLDEST)
        return invalid("attach: options.resume is none of WIREBOOK_RESUME_...");
    return 0;
}

ring::AttachOptions ring_options(const wirebook_attach_options& options) {
    ring::AttachOptions result;
    if (options.directory != nullptr) result.directory = options.directory;
    result.wait = std::chrono::milliseconds(options.wait_ms);
    result.resume = static_cast<ring::Resume>(options.resume);
    result.join_table = (options.flags & WIREBOOK_ATTACH_NO_TABLE) == 0;
    result.live_only = (options.flags & WIREBOOK_ATTACH_LEFT_BEHIND) == 0;
    result.prefault = (options.flags & WIREBOOK_ATTACH_NO_PREFAULT) == 0;
    result.follow = (options.flags & WIREBOOK_ATTACH_FOLLOW) != 0;
    result.show_position = (options.flags & WIREBOOK_ATTACH_SHOW_POSITION) != 0;
    return result;
}

// `find`: a Result<ring::Reader> of a name or a path and of options.
template <class Find>
int attach(const char* what, const wirebook_attach_options* options, wirebook_reader** reader,
           Find find) noexcept {
    if (reader == nullptr) return invalid("attach: no place for the reader");
    *reader = nullptr;
    if (what == nullptr) return invalid("attach: no name");
    wirebook_attach_options chosen{};
    if (const int fault = read_options(options, chosen); fault != 0) return fault;
    try {
        auto attached = find(what, ring_options(chosen));
        if (!attached) return fail(attached.error());
        *reader = new wirebook_reader(std::move(attached).value());
        return 0;
    } catch (...) {  // std::bad_alloc, by the standard library
        return out_of_memory();
    }
}

}  // namespace

void set_last_error(std::string_view text) noexcept {
    const std::size_t bytes = std::min(text.size(), last_error.size() - 1);
    if (bytes != 0) std::memcpy(last_error.data(), text.data(), bytes);
    last_error[bytes] = '\0';
}

static_assert(WIREBOOK_RESUME_TABLE == static_cast<int>(ring::Resume::table));
static_assert(WIREBOOK_RESUME_NEWEST == static_cast<int>(ring::Resume::newest));
static_assert(WIREBOOK_RESUME_OLDEST == static_cast<int>(ring::Resume::oldest));
static_assert(WIREBOOK_ABI == ring::abi_version);

}  // namespace wirebook::capi

namespace capi = wirebook::capi;
namespace ring = wirebook::ring;

const char* wirebook_version() {
    return WIREBOOK_VERSION;
}
uint32_t wirebook_abi() {
    return ring::abi_version;
}
const char* wirebook_last_error() {
    return capi::last_error.data();
}

int wirebook_attach(const char* name, const wirebook_attach_options* options,
                    wirebook_reader** reader) {
    return capi::attach(name, options, reader, [](const char* text, const auto& how) {
        // One byte more than a name may have is enough to refuse it.
        return ring::Reader::attach({text, ::strnlen(text, ring::max_name_bytes + 1)}, how);
    });
}
int wirebook_attach_file(const char* path, const wirebook_attach_options* options,
                         wirebook_reader** reader) {
    return capi::attach(path, options, reader, [](const char* text, const auto& how) {
        return ring::Reader::attach_file(text, how);
    });
}

void wirebook_close(wirebook_reader* reader) {
    if (!capi::usable(reader)) return;
    reader->mark = 0;
    delete reader;
}

int wirebook_reattach(wirebook_reader* reader) {
    if (!capi::usable(reader)) return capi::invalid("reattach: not a reader");
    try {
        const auto found = reader->ring.reattach();
        if (!found) return capi::fail(found.error());
        return found.value() ? 1 : 0;
    } catch (...) {
        return capi::out_of_memory();
    }
}
