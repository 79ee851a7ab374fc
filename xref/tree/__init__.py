"""What a tree is: its files, version, era of registration macros, build options and flags."""
