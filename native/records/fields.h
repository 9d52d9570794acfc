// The fields of the records that cross between JavaScript and C++. src/kernel/shared/records/layout.ts
// explains the kinds of fields; layouts.h of each family has their places. Numbers are little-endian whatever
// the machine.
#pragma once

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace knp::records {

template <typename T>
struct Number {
  size_t offset;
};
using U8 = Number<uint8_t>;
using U16 = Number<uint16_t>;
using U32 = Number<uint32_t>;
using U64 = Number<uint64_t>;

struct Text {
  size_t offset;
  size_t width;  // with the zero at the end
};

// 16 bytes in network order; IPv4 in the first four.
struct Address {
  size_t offset;
};
using AddressBytes = std::array<uint8_t, 16>;

// A record within the record.
struct Nested {
  size_t offset;
};

template <typename T>
T Load(const uint8_t* record, Number<T> field) {
  uint64_t value = 0;
  for (size_t i = sizeof(T); i > 0; i--) value = value << 8 | record[field.offset + i - 1];
  return static_cast<T>(value);
}
inline std::string Load(const uint8_t* record, Text field) {
  const auto* text = reinterpret_cast<const char*>(record + field.offset);
  return std::string(text, strnlen(text, field.width - 1));
}
inline AddressBytes Load(const uint8_t* record, Address field) {
  AddressBytes address;
  std::copy_n(record + field.offset, address.size(), address.begin());
  return address;
}
inline const uint8_t* Load(const uint8_t* record, Nested field) {
  return record + field.offset;
}

template <typename T>
void Store(uint8_t* record, Number<T> field, uint64_t value) {
  std::array<uint8_t, sizeof(T)> bytes;
  for (size_t i = 0; i < sizeof(T); i++) bytes[i] = static_cast<uint8_t>(value >> 8 * i);
  std::copy(bytes.begin(), bytes.end(), record + field.offset);
}
// Cuts a text that is too long.
inline void Store(uint8_t* record, Text field, std::string_view text) {
  const std::string_view kept = text.substr(0, field.width - 1);
  std::memset(record + field.offset, 0, field.width);
  std::memcpy(record + field.offset, kept.data(), kept.size());
}
inline void Store(uint8_t* record, Address field, const AddressBytes& address) {
  std::memcpy(record + field.offset, address.data(), address.size());
}
inline uint8_t* At(uint8_t* record, Nested field) {
  return record + field.offset;
}

// AF_INET for 4, AF_INET6 for 6, AF_UNSPEC for every other number.
inline uint8_t LoadFamily(const uint8_t* record, U8 field) {
  const uint8_t number = record[field.offset];
  if (number == 4) return AF_INET;
  return number == 6 ? AF_INET6 : AF_UNSPEC;
}
inline void StoreFamily(uint8_t* record, U8 field, int family) {
  uint8_t number = 0;
  if (family == AF_INET) number = 4;
  if (family == AF_INET6) number = 6;
  record[field.offset] = number;
}

// Reads records of one layout, as many as there are, with `load(record)`.
template <typename Layout, typename Load>
auto LoadEach(const uint8_t* records, size_t size, Load load) {
  std::vector<decltype(load(records))> values;
  values.reserve(size / Layout::kSize);
  for (; size >= Layout::kSize; size -= Layout::kSize, records += Layout::kSize)
    values.push_back(load(records));
  return values;
}

// Writes each value to a record of one layout, with `store(value, record)`.
template <typename Layout, typename Value, typename Store>
std::vector<uint8_t> StoreEach(const std::vector<Value>& values, Store store) {
  std::vector<uint8_t> records(values.size() * Layout::kSize);
  uint8_t* record = records.data();
  for (const Value& value : values) {
    store(value, record);
    record += Layout::kSize;
  }
  return records;
}

}  // namespace knp::records
