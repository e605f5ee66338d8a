# Read by quickstart: installs what is missing.
# shellcheck shell=bash

# packages GROUP...: their names
packages()
{
	awk -v groups=" $* " '!/^#/ && index(groups, " " $1 " ") { print $2 }' build-aux/packages.debian
}

# why PACKAGE
why() { awk -v package="$1" '$2 == package { $1 = $2 = ""; sub(/^ +/, ""); print }' build-aux/packages.debian; }

is_installed() { [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

# Debian's libomp packages exclude each other: any of them will do.
is_there()
{
	case $1 in
	libomp-dev) is_installed libomp-dev || dpkg-query -W -f='${db:Status-Status}\n' 'libomp-*-dev' 2>/dev/null | grep -qx installed ;;
	pkg-config) is_installed pkg-config || is_installed pkgconf ;;
	*) is_installed "$1" ;;
	esac
}

by_hand()
{
	say "These Debian packages are needed, or what your system calls them:"
	local package
	for package in "$@"; do printf '      %-20s%s\n' "$package" "$(why "$package")"; done
}

# install_missing GROUP...
install_missing()
{
	local package missing=() as_root=()
	if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
		# shellcheck disable=SC2046  # one word a package
		by_hand $(packages "$@")
		say "This is no Debian: nothing is installed; going on with what is here."
		return
	fi
	for package in $(packages "$@"); do
		is_there "$package" || missing+=("$package")
	done
	if [ ${#missing[@]} -eq 0 ]; then
		say "Every package that is needed is installed."
		return
	fi
	say "To be installed with apt-get:"
	for package in "${missing[@]}"; do printf '      %-20s%s\n' "$package" "$(why "$package")"; done
	if [ "$(id -u)" != 0 ]; then
		if ! command -v sudo >/dev/null; then
			say "You are not root, and there is no sudo. As root: apt-get install --no-install-recommends ${missing[*]}"
			say "Going on with what is here."
			return
		fi
		as_root=(sudo)
		sudo -v || { say "sudo was refused; going on with what is here."; return; }
	fi
	step "fetching the list of packages" "${as_root[@]}" apt-get -q update
	step "installing ${#missing[@]} packages" "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
		apt-get -q install -y --no-install-recommends "${missing[@]}"
}
