// A vector whose first elements go in constant time: for ordered lists that are used up from the
// front. The room of what went is taken back when it is half of all; an element moves once for it.
//
// May depend on the standard library only. One thread.
#pragma once

#include <cstddef>
#include <vector>

namespace wirebook::feed {

template <class T>
class FrontVector {
public:
    using iterator = typename std::vector<T>::iterator;

    // Up to `count` elements at one time allocate nothing further.
    void reserve(std::size_t count) { items_.reserve(2 * count + 1); }

    [[nodiscard]] bool empty() const noexcept { return first_ == items_.size(); }
    [[nodiscard]] std::size_t size() const noexcept { return items_.size() - first_; }
    [[nodiscard]] iterator begin() noexcept { return at(0); }
    [[nodiscard]] iterator end() noexcept { return items_.end(); }
    [[nodiscard]] auto begin() const noexcept {
        return items_.begin() + static_cast<std::ptrdiff_t>(first_);
    }
    [[nodiscard]] auto end() const noexcept { return items_.end(); }
    [[nodiscard]] T& operator[](std::size_t i) noexcept { return items_[first_ + i]; }
    [[nodiscard]] const T& front() const noexcept { return items_[first_]; }
    [[nodiscard]] T& back() noexcept { return items_.back(); }

    void push_back(const T& item) { items_.push_back(item); }
    // These move what stands behind.
    void insert(iterator where, const T& item) { items_.insert(where, item); }
    void erase(iterator first, iterator last) { items_.erase(first, last); }

    void drop_front(std::size_t count) noexcept {
        first_ += count;
        if (first_ * 2 < items_.size()) return;
        items_.erase(items_.begin(), at(0));
        first_ = 0;
    }

private:
    [[nodiscard]] iterator at(std::size_t i) noexcept {
        return items_.begin() + static_cast<std::ptrdiff_t>(first_ + i);
    }

    std::vector<T> items_;
    std::size_t first_ = 0;  // of those that are there
};

}  // namespace wirebook::feed
