"""What a simulation may have or lack, a package for each part."""
