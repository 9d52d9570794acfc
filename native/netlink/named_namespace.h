// Network namespaces with a name: files on which namespaces are mounted, as ip-netns(8) makes them. Every
// function blocks; call it off the event loop. It needs CAP_SYS_ADMIN.
#pragma once

#include <atomic>
#include <string>

#include "netlink/status.h"

namespace knp::netlink {

// Creates a network namespace with the name `name` in `folder`, which is created too, and becomes a mount
// point whose mounts other mount namespaces see. No thread is left in the new namespace. EEXIST: the name is
// taken; EAGAIN: another program holds the lock of the folder for over 5 s, or `cancelled` was set meanwhile.
Status AddNamedNamespace(const std::string& folder, const std::string& name,
                         const std::atomic<bool>& cancelled);

// Deletes the name. The namespace ends with the last process, socket and mount in it. ENOENT: no such name.
Status DeleteNamedNamespace(const std::string& folder, const std::string& name);

}  // namespace knp::netlink
