// Reads and writes the fixed-size records that cross between JavaScript and C++: little-endian whatever the
// machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace knp::records {

inline uint16_t Load16(const uint8_t* at) {
  return static_cast<uint16_t>(at[0] | at[1] << 8);
}
inline uint32_t Load32(const uint8_t* at) {
  return Load16(at) | static_cast<uint32_t>(Load16(at + 2)) << 16;
}

inline void Store16(uint8_t* at, uint16_t value) {
  at[0] = static_cast<uint8_t>(value);
  at[1] = static_cast<uint8_t>(value >> 8);
}
inline void Store32(uint8_t* at, uint32_t value) {
  Store16(at, static_cast<uint16_t>(value));
  Store16(at + 2, static_cast<uint16_t>(value >> 16));
}
inline void Store64(uint8_t* at, uint64_t value) {
  Store32(at, static_cast<uint32_t>(value));
  Store32(at + 4, static_cast<uint32_t>(value >> 32));
}

// Text in a field of `width` bytes, padded with zeros; the last byte is always one.
inline std::string LoadText(const uint8_t* at, size_t width) {
  const auto* text = reinterpret_cast<const char*>(at);
  return std::string(text, strnlen(text, width - 1));
}
inline void StoreText(uint8_t* at, size_t width, std::string_view text) {
  const std::string_view kept = text.substr(0, width - 1);
  std::memset(at, 0, width);
  std::memcpy(at, kept.data(), kept.size());
}

}  // namespace knp::records
