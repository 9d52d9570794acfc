// Reads netlink attributes without ever looking beyond them.
//
// The first error stays in a ReadError, which nested readers share: from then on Next() is false and every
// value is zero, so that a decoder needs one flat loop and one check at its end. A decoder skips attributes
// that it does not know: newer kernels send more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "netlink/status.h"

namespace knp::netlink {

struct ReadError {
  const char* reason = nullptr;  // null without an error
  uint16_t attribute = 0;        // type of the attribute that was wrong
  size_t size = 0;               // bytes that its payload had

  bool ok() const { return reason == nullptr; }
  Status ToStatus() const;
};

class AttributeReader {
 public:
  // Reads `size` bytes at `data`; both, and `error`, must outlive the reader.
  AttributeReader(const uint8_t* data, size_t size, ReadError* error)
      : next_(data), remaining_(size), error_(error) {}

  // Moves to the next attribute; false after the last one, and after an error.
  bool Next();

  // nla_type & NLA_TYPE_MASK: without NLA_F_NESTED and NLA_F_NET_BYTEORDER.
  uint16_t type() const { return type_; }
  // Bytes of the payload.
  size_t size() const { return size_; }

  // The payload, which must have exactly this width; in host order, but for the BigEndian ones.
  uint8_t U8() { return Fixed<uint8_t>(); }
  uint16_t U16() { return Fixed<uint16_t>(); }
  uint32_t U32() { return Fixed<uint32_t>(); }
  uint64_t U64() { return Fixed<uint64_t>(); }
  uint16_t BigEndian16();
  uint32_t BigEndian32();

  // A string of at most `longest` bytes, with or without a terminator.
  std::string String(size_t longest);
  // Copies a payload of at most `capacity` bytes and returns how many there were.
  size_t Bytes(void* out, size_t capacity);
  // A payload of exactly sizeof(T) bytes: a number, or an array of bytes.
  template <typename T>
  T Fixed() {
    T value{};
    CopyExactly(&value, sizeof(value));
    return value;
  }
  // A payload of at least sizeof(T) bytes, for the kernel's plain structs: newer kernels have longer ones.
  template <typename T>
  T Struct() {
    T value{};
    CopyStart(&value, sizeof(value));
    return value;
  }
  // Reads the payload, a number or an array of bytes, if the attribute has this type; whether it has.
  template <typename T>
  bool Read(uint16_t type, T* out) {
    if (type_ != type) return false;
    *out = Fixed<T>();
    return true;
  }
  // The attributes inside this one.
  AttributeReader Nested() const { return AttributeReader(payload_, size_, error_); }

 private:
  void CopyExactly(void* out, size_t size);
  void CopyStart(void* out, size_t size);
  void Fail(const char* reason);

  const uint8_t* next_;
  size_t remaining_;
  ReadError* error_;
  const uint8_t* payload_ = nullptr;
  size_t size_ = 0;
  uint16_t type_ = 0;
};

}  // namespace knp::netlink
