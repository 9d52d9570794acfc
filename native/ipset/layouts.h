// Written by `npm run task -- layouts` from src/kernel/ipset/layouts.ts, which explains each name.
#pragma once

#include "records/fields.h"

namespace knp::ipset {

enum EntryField : uint8_t {
  kAddress = 1,
  kPrefix = 2,
  kProtocol = 4,
  kPort = 8,
  kAddress2 = 16,
  kPrefix2 = 32,
  kNoMatch = 64,
};

enum SetFlag : uint8_t {
  kHasElements = 1,
  kHasPorts = 2,
  kIsExtended = 4,
};

enum class SetType : uint8_t {
  kHashIp = 1,
  kHashNet = 2,
  kHashIpPort = 3,
  kHashIpPortIp = 4,
  kHashIpPortNet = 5,
  kBitmapPort = 6,
  kBitmapIp = 7,
  kBitmapIpMac = 8,
  kHashMac = 9,
  kHashIpMac = 10,
  kHashIpMark = 11,
  kHashNetNet = 12,
  kHashNetPort = 13,
  kHashNetPortNet = 14,
  kHashNetIface = 15,
  kListSet = 16,
};

enum class Verb : uint8_t {
  kCreate = 1,
  kAdd = 2,
  kDelete = 3,
  kFlush = 4,
  kDestroy = 5,
  kSwap = 6,
  kRename = 7,
  kFlushAll = 8,
  kDestroyAll = 9,
};

namespace layout {

struct Attribute {
  static constexpr size_t kSize = 4;
  static constexpr records::U16 kLength{0};
  static constexpr records::U16 kType{2};
};

struct Entry {
  static constexpr size_t kSize = 40;
  static constexpr records::U8 kFields{0};
  static constexpr records::U8 kProtocol{1};
  static constexpr records::U8 kPrefix{2};
  static constexpr records::U8 kPrefix2{3};
  static constexpr records::U16 kPort{4};
  static constexpr records::U8 kFamily{6};
  static constexpr records::U8 kAttributes{7};
  static constexpr records::Address kAddress{8};
  static constexpr records::Address kAddress2{24};
};

struct Operation {
  static constexpr size_t kSize = 76;
  static constexpr records::U8 kVerb{0};
  static constexpr records::U8 kType{1};
  static constexpr records::U8 kFamily{2};
  static constexpr records::U8 kFields{3};
  static constexpr records::U8 kProtocol{4};
  static constexpr records::U8 kPrefix{5};
  static constexpr records::U8 kPrefix2{6};
  static constexpr records::U8 kAttributes{7};
  static constexpr records::U16 kPort{8};
  static constexpr records::U8 kStrict{10};
  static constexpr records::Text kName{12, 32};
  static constexpr records::Address kAddress{44};
  static constexpr records::Address kAddress2{60};
};

struct Set {
  static constexpr size_t kSize = 92;
  static constexpr records::U8 kFamily{0};
  static constexpr records::U8 kRevision{1};
  static constexpr records::U8 kFlags{2};
  static constexpr records::U8 kAttributes{3};
  static constexpr records::U32 kHashSize{4};
  static constexpr records::U32 kMaxElements{8};
  static constexpr records::U16 kFirstPort{12};
  static constexpr records::U16 kLastPort{14};
  static constexpr records::U32 kReferences{16};
  static constexpr records::U32 kElements{20};
  static constexpr records::U32 kEntries{24};
  static constexpr records::Text kName{28, 32};
  static constexpr records::Text kType{60, 32};
};

struct Type {
  static constexpr size_t kSize = 34;
  static constexpr records::U8 kLeastRevision{0};
  static constexpr records::U8 kGreatestRevision{1};
  static constexpr records::Text kName{2, 32};
};

}  // namespace layout

}  // namespace knp::ipset
