# What node-gyp builds in a checkout. The package has no binding.gyp at its top, because npm would run node-gyp in every installation.
{ "includes": ["native/addon.gypi"] }
