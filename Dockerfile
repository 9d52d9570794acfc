# The image of the node agent: the proxy, Node, libipset, both iptables backends, and tools for operators.
#
#   docker build -t kube-netlink-proxy .          or   buildah build -t kube-netlink-proxy .
#
# The base images are named by version: this repository knows no digest of them. `npm run task -- release pin` looks them up in the registry,
# and writes them here, as image:tag@sha256:…; run it again when their images are corrected. Or name other ones:
#   docker build --build-arg NODE_IMAGE=REGISTRY/node@sha256:…  --build-arg DEBIAN_IMAGE=REGISTRY/debian@sha256:… .
#
# Equal builds (docs/release.md): bases by digest, one state of Debian's archive, and one time of all files:
#   buildah build --timestamp "$(git log -1 --format=%ct)" --build-arg SNAPSHOT=20261127T000000Z -t kube-netlink-proxy .
#
# --build-arg AUTH_PROVIDERS=with adds the packages that only a kubeconfig with an auth-provider needs.
# --build-arg IPTABLES=without leaves out iptables, ipset and libipset, which nftables mode, and ipvs mode with --ipvs-rules=nftables, do
# not use.
#
# For arm64: docker build --platform linux/arm64 .
ARG NODE_IMAGE=docker.io/library/node:24.21.0-trixie-slim
ARG DEBIAN_IMAGE=docker.io/library/debian:13.7-slim
# The machine that builds; NODE_IMAGE and DEBIAN_IMAGE are of the image's platform.
ARG BUILD_IMAGE=${NODE_IMAGE}

# Node for the image's platform.
FROM ${NODE_IMAGE} AS node

# The compiler of the prebuilt binaries runs on amd64, and compiles for all platforms.
FROM --platform=linux/amd64 ${BUILD_IMAGE} AS build
ARG TARGETARCH
ARG AUTH_PROVIDERS=without
ARG IPTABLES=with
RUN apt-get update \
 && apt-get install -y --no-install-recommends make python3 \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
# A binary in the context that was made from these sources is used as it is. The command contains the packages that it uses; only
# the loader of the addon stays beside it.
RUN arch=$(case $TARGETARCH in amd64) echo x64;; *) echo "$TARGETARCH";; esac) \
 && npm run task -- build:ts && npm run task -- bundle --auth-providers $AUTH_PROVIDERS && npm run task -- prebuild --target linux-$arch-glibc \
 && npm pkg delete devDependencies peerDependencies peerDependenciesMeta \
 && npm prune --no-audit --no-fund \
 && find node_modules \( -name '*.d.ts' -o -name '*.map' -o -type d -empty \) -delete \
 && package=/out/opt/kube-netlink-proxy && mkdir -p $package/dist $package/prebuilds/linux-$arch \
 && mv dist/command $package/dist/ \
 && mv prebuilds/linux-$arch/kube-netlink-proxy.glibc.node $package/prebuilds/linux-$arch/ \
 && mv package.json LICENSE NOTICE node_modules $package/
# The commands.
RUN mkdir -p /out/usr/local/bin /out/usr/local/sbin \
 && mv deploy/image/kube-netlink-proxy deploy/image/iptables-flavour /out/usr/local/bin/ \
 && ln -s kube-netlink-proxy /out/usr/local/bin/kube-proxy \
 && mv deploy/image/iptables /out/usr/local/sbin/ \
 && for name in iptables-save iptables-restore ip6tables ip6tables-save ip6tables-restore; do \
      ln -s iptables /out/usr/local/sbin/$name; \
    done \
 && for flavour in nft legacy; do \
      mkdir -p /out/usr/local/lib/iptables-$flavour; \
      for name in iptables iptables-save iptables-restore ip6tables ip6tables-save ip6tables-restore; do \
        ln -s /usr/sbin/xtables-$flavour-multi /out/usr/local/lib/iptables-$flavour/$name; \
      done; \
    done \
 && if [ "$IPTABLES" = without ]; then rm -r /out/usr/local/sbin/* /out/usr/local/lib; fi

FROM ${DEBIAN_IMAGE}
# A time at which snapshot.debian.org has Debian's archive, 20261127T000000Z; blank: the packages of today.
ARG SNAPSHOT
ARG IPTABLES=with
# libipset13 and iptables program the kernel, kmod loads ip_vs; ipset and ipvsadm are for operators. The removed files have times in
# their text, or are caches.
RUN case $IPTABLES in with | without) ;; *) echo "IPTABLES must be with or without, found $IPTABLES" >&2; exit 1 ;; esac \
 && if [ -n "$SNAPSHOT" ]; then \
      release=$(. /etc/os-release && echo "$VERSION_CODENAME") \
   && printf "deb [signed-by=$(ls /usr/share/keyrings/debian-archive-keyring.* | head -n 1)] http://snapshot.debian.org/archive/%s main\n" \
        "debian/$SNAPSHOT $release" "debian/$SNAPSHOT $release-updates" "debian-security/$SNAPSHOT $release-security" >/tmp/sources.list \
   && set -- -o Dir::Etc::SourceList=/tmp/sources.list -o Dir::Etc::SourceParts=/dev/null -o Acquire::Check-Valid-Until=false; \
    fi \
 && apt-get "$@" update \
 && apt-get "$@" install -y --no-install-recommends ipvsadm kmod libstdc++6 \
      $(if [ "$IPTABLES" = with ]; then echo ipset iptables libipset13; fi) \
 && rm -rf /tmp/sources.list /var/lib/apt/lists/* /var/cache/apt /var/cache/debconf/*-old /var/cache/ldconfig/aux-cache \
      /var/lib/dpkg/*-old /var/log/alternatives.log /var/log/apt /var/log/dpkg.log \
 && mkdir -p /lib/modules /var/lib/kube-proxy
COPY --from=node /usr/local/bin/node /usr/local/bin/node
COPY --from=build /out/ /
ENTRYPOINT ["/usr/local/bin/kube-netlink-proxy"]
ARG DEBIAN_IMAGE
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="kube-netlink-proxy" \
      org.opencontainers.image.description="A drop-in kube-proxy whose data plane speaks netlink, in ipvs, iptables and nftables mode" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.base.name="${DEBIAN_IMAGE}"
