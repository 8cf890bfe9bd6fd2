#include "wirebook/sim/broadcast.hpp"

namespace wirebook::sim {

MoldFraming::Session next_session(const MoldFraming::Session& session) noexcept {
    MoldFraming::Session next = session;
    for (std::size_t at = next.size(); at-- > 0 && next[at] >= '0' && next[at] <= '9';) {
        if (next[at] != '9') {
            ++next[at];
            break;
        }
        next[at] = '0';
    }
    return next;
}

IexSession next_session(const IexSession& session) noexcept {
    IexSession next = session;
    ++next.session;
    return next;
}

}  // namespace wirebook::sim
