// Turns captured netlink datagrams into malformed ones, reproducibly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace knp::fuzz {

using Bytes = std::vector<uint8_t>;

// Numbers that depend on the seed only: of <random>, engines are the same everywhere, distributions are not.
class Dice {
 public:
  explicit Dice(uint64_t seed) : engine_(seed) {}
  // 0 to `sides` - 1; 0 when there are none.
  size_t Throw(size_t sides) { return sides == 0 ? 0 : static_cast<size_t>(engine_() % sides); }

 private:
  std::mt19937_64 engine_;
};

// A message or an attribute within a datagram. Its first 4 or 2 bytes are its length.
struct Element {
  size_t start;
  size_t size;
  bool message;
};

// The messages and, as far down as they look like ones, the attributes of a well-formed datagram.
std::vector<Element> FindElements(const Bytes& datagram);

// A copy of `original`, which begins with a whole message, with one to four changes, never equal to it: bits
// flipped, bytes overwritten, cut short, lengths falsified, attributes copied over from `donor` or from
// itself, parts doubled or removed.
Bytes Mutate(const Bytes& original, const Bytes& donor, Dice* dice);

}  // namespace knp::fuzz
